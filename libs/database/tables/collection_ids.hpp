#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/guarded.hpp"
#include "base/seeded_hash.hpp"
#include "postgres/session.hpp"

namespace skua::tables {

/// The numbers of the collections (`bsky.collections`), assigned on first use and cached. All
/// threads of the process share one object. The cache has only committed numbers, at most
/// `capacity` of them, because anybody can invent collections.
class CollectionIds {
 public:
  explicit CollectionIds(std::size_t capacity = 20'000) : capacity_(capacity) {}

  /// Returns the number of each of `nsids`, which may contain duplicates. 0: another collection has
  /// the number that a node computes for it (docs/adr/0019), so the collection cannot be stored.
  /// Call this function outside of any transaction, because new numbers are committed at once.
  /// Throws SqlError; the call may then be repeated.
  std::vector<std::int32_t> ids_of(postgres::Session& session,
                                   std::span<const std::string_view> nsids);

 private:
  using Ids = std::unordered_map<std::string, std::int32_t, SeededHash, std::equal_to<>>;

  void remember(const Ids& ids);

  const std::size_t capacity_;
  Guarded<Ids> known_;
};

}  // namespace skua::tables
