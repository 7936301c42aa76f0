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
#include "store/session.hpp"

namespace skua::store {

/// The numbers of the collections (`bsky.collections`), given on first sight and remembered. One
/// for all threads of the process. Only committed numbers are remembered, at most `capacity` of
/// them: anybody can invent collections.
class CollectionIds {
 public:
  explicit CollectionIds(std::size_t capacity = 20'000) : capacity_(capacity) {}

  /// The number of each of `nsids`, which may repeat. Outside any transaction: new ones are
  /// committed at once. Throws SqlError; may then be called again.
  std::vector<std::int32_t> ids_of(Session& session, std::span<const std::string_view> nsids);

 private:
  using Ids = std::unordered_map<std::string, std::int32_t, SeededHash, std::equal_to<>>;

  void remember(const Ids& ids);

  const std::size_t capacity_;
  Guarded<Ids> known_;
};

}  // namespace skua::store
