#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace skua::store {

/// The number of a record key (docs/architecture.md, Database). A TID whose first letter is 2-7, a
/// or b becomes its 63-bit value. Any other key becomes the negative of the first 63 bits of its
/// SHA-256, and `bsky.rkeys` stores its text. The SQL functions know `self`, the key of every
/// singleton, so it has no row there.
struct RkeyNumber {
  std::int64_t value = 0;
  /// True if the number does not determine the text.
  bool needs_text = false;
};

RkeyNumber rkey_number(std::string_view rkey);

/// `rkey_number("self").value`.
inline constexpr std::string_view kSelf = "self";

}  // namespace skua::store
