#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "base/time.hpp"

namespace skua::atproto {

/// A timestamp identifier (atproto.com/specs/tid): microseconds since 1970 << 10 | clock id,
/// written as 13 characters of sortable base32. Revisions and many record keys are TIDs.
struct Tid {
  std::uint64_t value = 0;

  /// Returns an error for a wrong length, a wrong character, or a first character above `j`.
  static Result<Tid> parse(std::string_view text);
  static Tid from_time(Timestamp time, unsigned clock_id);

  std::string to_string() const;
  Timestamp time() const { return Timestamp(std::chrono::microseconds(value >> 10)); }
  /// Whether bit 63 is clear, so that the value fits into PostgreSQL's int8.
  bool fits_int8() const { return (value >> 63) == 0; }

  friend auto operator<=>(const Tid&, const Tid&) = default;
};

}  // namespace skua::atproto
