#include "writer/guard.hpp"

#include "writer/guard.sql.hpp"
namespace skua::writer {

std::vector<GuardedChange> drop_known(store::Session& session,
                                      std::span<const event::ResolvedEvent* const> changes) {
  using store::Array;
  Array actors(Array::Type::int8);
  Array collections(Array::Type::int4);
  Array rkeys(Array::Type::int8);
  for (const event::ResolvedEvent* change : changes) {
    actors.int8(change->actor_id);
    collections.int4(change->collection_id);
    rkeys.int8(change->rkey_number);
  }
  store::Params params;
  params.array(actors).array(collections).array(rkeys);
  const store::Rows known = session.execute(sql::guard_known, params);

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
