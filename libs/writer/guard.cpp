#include "writer/guard.hpp"

namespace skua::writer {
namespace {

const store::Statement kKnown{
    "guard_known",
    "WITH k AS MATERIALIZED (SELECT * FROM unnest($1::int4[], $2::int4[], $3::int8[]) "
    "WITH ORDINALITY AS k(actor_id, collection_id, rkey, place)) "
    "SELECT k.place, t.rev, false FROM k "
    "JOIN skua.tombstones AS t USING (actor_id, collection_id, rkey) "
    "UNION ALL "
    "SELECT k.place, r.rev, true FROM k "
    "JOIN bsky.records AS r USING (actor_id, collection_id, rkey) "
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
