#include "tables/collection_ids.hpp"

#include <set>

#include "tables/collection_ids.sql.hpp"

namespace skua::tables {
namespace {

struct Collection {
  std::int32_t id;
  std::string nsid;
};

}  // namespace

std::vector<std::int32_t> CollectionIds::ids_of(postgres::Session& session,
                                                std::span<const std::string_view> nsids) {
  std::vector<std::int32_t> ids(nsids.size());
  std::set<std::string_view> missing;
  known_.with([&](const Ids& known) {
    for (std::size_t i = 0; i < nsids.size(); ++i) {
      if (const auto place = known.find(nsids[i]); place != known.end()) {
        ids[i] = place->second;
      } else {
        missing.insert(nsids[i]);
      }
    }
  });
  if (missing.empty()) return ids;

  // Looks up the numbers first, because an insert that conflicts with an existing row would waste a
  // number.
  Ids found;
  const auto find = [&] {
    for (const auto& [id, nsid] : session.query<Collection>(sql::collections_find, missing)) {
      missing.erase(nsid);
      found.emplace(nsid, id);
    }
  };
  find();
  if (!missing.empty()) {
    session.execute(sql::collections_insert, missing);
    find();
  }
  remember(found);
  for (std::size_t i = 0; i < nsids.size(); ++i) {
    if (const auto place = found.find(nsids[i]); place != found.end()) ids[i] = place->second;
  }
  return ids;
}

void CollectionIds::remember(const Ids& ids) {
  known_.with([&](Ids& known) {
    // Clears the whole cache, which is rare and cheap: the next batches look up the numbers again.
    if (known.size() + ids.size() > capacity_) known.clear();
    known.insert(ids.begin(), ids.end());
  });
}

}  // namespace skua::tables
