#include "writer/guard.hpp"

namespace skua::writer {
namespace {

// The planner may have met these tables when they were nearly empty, and a plan is kept. OFFSET 0
// keeps it from going through a table's rows to compare each with every key; a range of one key
// is something that only the primary key of `records` serves, not its index on the collection.
const store::Statement kKnown{
    "guard_known",
    "WITH k AS MATERIALIZED (SELECT * FROM unnest($1::int4[], $2::int4[], $3::int8[]) "
    "WITH ORDINALITY AS k(actor_id, collection_id, rkey, place)) "
    "SELECT k.place, t.rev, false FROM k CROSS JOIN LATERAL ("
    "SELECT t.rev FROM skua.tombstones AS t WHERE t.actor_id = k.actor_id "
    "AND t.collection_id = k.collection_id AND t.rkey = k.rkey OFFSET 0) AS t "
    "UNION ALL "
    "SELECT k.place, r.rev, true FROM k CROSS JOIN LATERAL ("
    "SELECT r.rev FROM bsky.records AS r WHERE "
    "(r.actor_id, r.collection_id, r.rkey) >= (k.actor_id, k.collection_id, k.rkey) AND "
    "(r.actor_id, r.collection_id, r.rkey) <= (k.actor_id, k.collection_id, k.rkey) OFFSET 0) AS r "
    "UNION ALL "
    "SELECT k.place, a.floor_rev, false FROM k "
    "JOIN bsky.actors AS a ON a.id = k.actor_id WHERE a.floor_rev > 0"};

}  // namespace

std::vector<GuardedChange> drop_known(store::Session& session,
                                      std::span<const event::ResolvedEvent* const> changes) {
  using store::Array;
  Array actors(Array::Type::int4);
  Array collections(Array::Type::int4);
  Array rkeys(Array::Type::int8);
  for (const event::ResolvedEvent* change : changes) {
    actors.int4(change->actor_id);
    collections.int4(change->collection_id);
    rkeys.int8(change->rkey_number);
  }
  store::Params params;
  params.array(actors).array(collections).array(rkeys);
  const store::Rows known = session.execute(kKnown, params);

  std::vector<bool> dropped(changes.size());
  std::vector<bool> has_records_row(changes.size());
  for (std::size_t row = 0; row < known.size(); ++row) {
    const auto place = static_cast<std::size_t>(known.int8(row, 0) - 1);
    const auto rev = static_cast<std::uint64_t>(known.int8(row, 1));
    if (changes[place]->change().rev.value <= rev) dropped[place] = true;
    if (known.boolean(row, 2)) has_records_row[place] = true;
  }
  std::vector<GuardedChange> news;
  news.reserve(changes.size());
  for (std::size_t i = 0; i < changes.size(); ++i) {
    if (!dropped[i]) news.push_back({changes[i], has_records_row[i]});
  }
  return news;
}

}  // namespace skua::writer
