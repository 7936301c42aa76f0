#pragma once

#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/account_number.hpp"
#include "base/seeded_hash.hpp"

namespace skua::tables {

/// The number of a record key (docs/architecture.md, Database). A TID whose first letter is 2-7, a
/// or b becomes its 63-bit value. Any other key becomes the negative of the first 63 bits of its
/// SHA-256, and `bsky.rkeys` stores its text. The SQL functions know `self`, the key of every
/// singleton, so `bsky.rkeys` has no row for it.
struct RkeyNumber {
  std::int64_t value = 0;
  /// Whether the number does not determine the text.
  bool needs_text = false;
};

RkeyNumber rkey_number(std::string_view rkey);

/// The numbers of a record, which are the key of its row. `rkey` is an RkeyNumber. Maps and hash
/// maps use this struct as a key.
struct RecordKey {
  AccountNumber actor_id = 0;
  std::int32_t collection_id = 0;
  std::int64_t rkey = 0;

  friend auto operator<=>(const RecordKey&, const RecordKey&) = default;
  friend std::size_t hash_value(const RecordKey& key) {
    const auto collection = static_cast<std::uint64_t>(key.collection_id);
    return seeded_hash(static_cast<std::uint64_t>(key.actor_id) ^ std::rotl(collection, 40),
                       static_cast<std::uint64_t>(key.rkey));
  }
};

/// The number of this key is `rkey_number("self").value`.
inline constexpr std::string_view kSelf = "self";

}  // namespace skua::tables
