#include "writer/tombstones.hpp"

namespace skua::writer {
namespace {

const store::Statement kUpsertTombstones{
    "tombstones_upsert",
    "INSERT INTO skua.tombstones AS t (actor_id, collection_id, rkey, rev, source, seq) "
    "SELECT d.actor_id, d.collection_id, d.rkey, d.rev, d.source, d.seq "
    "FROM unnest($1::int4[], $2::int4[], $3::int8[], $4::int8[], $5::int8[], $6::text[]) "
    "AS d(actor_id, collection_id, rkey, rev, seq, source) "
    "ON CONFLICT (actor_id, collection_id, rkey) DO UPDATE "
    "SET rev = EXCLUDED.rev, source = EXCLUDED.source, seq = EXCLUDED.seq "
    "WHERE t.rev < EXCLUDED.rev"};

}  // namespace

void write_tombstones(store::Session& session, std::span<const event::ResolvedEvent* const> deletes,
                      const SourceNames& sources) {
  using store::Array;
  Array actors(Array::Type::int4);
  Array collections(Array::Type::int4);
  Array rkeys(Array::Type::int8);
  Array revs(Array::Type::int8);
  Array seqs(Array::Type::int8);
  Array names(Array::Type::text);
  for (const event::ResolvedEvent* deleted : deletes) {
    actors.int4(deleted->actor_id);
    collections.int4(deleted->collection_id);
    rkeys.int8(deleted->rkey_number);
    revs.int8(static_cast<std::int64_t>(deleted->change().rev.value));
    seqs.int8(deleted->event.seq);
    names.text(sources.of(*deleted));
  }
  store::Params params;
  params.array(actors).array(collections).array(rkeys).array(revs).array(seqs).array(names);
  session.execute(kUpsertTombstones, params);
}

}  // namespace skua::writer
