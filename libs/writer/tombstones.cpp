#include "writer/tombstones.hpp"

#include "writer/tombstones.sql.hpp"
namespace skua::writer {

void write_tombstones(store::Session& session, std::span<const event::ResolvedEvent* const> deletes,
                      const SourceNames& sources) {
  using store::Array;
  Array actors(Array::Type::int8);
  Array collections(Array::Type::int4);
  Array rkeys(Array::Type::int8);
  Array revs(Array::Type::int8);
  Array seqs(Array::Type::int8);
  Array names(Array::Type::text);
  for (const event::ResolvedEvent* deleted : deletes) {
    actors.int8(deleted->actor_id);
    collections.int4(deleted->collection_id);
    rkeys.int8(deleted->rkey_number);
    revs.int8(static_cast<std::int64_t>(deleted->change().rev.value));
    seqs.int8(deleted->event.seq);
    names.text(sources.of(*deleted));
  }
  store::Params params;
  params.array(actors).array(collections).array(rkeys).array(revs).array(seqs).array(names);
  session.execute(sql::tombstones_upsert, params);
}

}  // namespace skua::writer
