#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace skua::store {

/// How a record key becomes a number (docs/architecture.md, Database). A TID whose first letter is
/// 2-7, a or b is its 63-bit value; any other key is minus the first 63 bits of its SHA-256, and
/// its text is kept in `bsky.rkeys`. `self`, the key of every singleton, is known to the SQL
/// functions and has no row there.
struct RkeyNumber {
  std::int64_t value = 0;
  /// True when the text cannot be had back from the number.
  bool needs_text = false;
};

RkeyNumber rkey_number(std::string_view rkey);

/// `rkey_number("self").value`.
inline constexpr std::string_view kSelf = "self";

}  // namespace skua::store
