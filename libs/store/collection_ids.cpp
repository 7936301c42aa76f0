#include "store/collection_ids.hpp"

#include <set>

namespace skua::store {
namespace {

const Statement kFind{"collections_find",
                      "SELECT id, nsid FROM bsky.collections WHERE nsid = ANY($1::text[])"};
const Statement kInsertCollections{
    "collections_insert",
    "INSERT INTO bsky.collections (nsid) SELECT nsid FROM unnest($1::text[]) AS nsid "
    "ON CONFLICT (nsid) DO NOTHING"};

template <class Names>
Params name_array(const Names& names) {
  Array array(Array::Type::text);
  for (const std::string_view name : names) array.text(name);
  Params params;
  params.array(array);
  return params;
}

}  // namespace

std::vector<std::int32_t> CollectionIds::ids_of(Session& session,
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

  // Look up first: an insert that conflicts with an existing row would waste a number.
  Ids found;
  const auto find = [&] {
    const Rows rows = session.execute(kFind, name_array(missing));
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto name = rows.text(i, 1);
      missing.erase(name);
      found.emplace(name, rows.int4(i, 0));
    }
  };
  find();
  if (!missing.empty()) {
    session.execute(kInsertCollections, name_array(missing));
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
    // Clearing the whole cache is rare and cheap: the next batches look the numbers up again.
    if (known.size() + ids.size() > capacity_) known.clear();
    known.insert(ids.begin(), ids.end());
  });
}

}  // namespace skua::store
