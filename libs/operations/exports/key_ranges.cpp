#include "exports/key_ranges.hpp"

#include <algorithm>
#include <cmath>

#include "base/account_number.hpp"

namespace skua::exports {
namespace {

/// The widths of neighbouring ranges differ at most by this factor.
constexpr double kMostChange = 4;

/// Returns the number of keys between two keys, which may not fit in an int64.
std::uint64_t distance(std::int64_t from, std::int64_t to) {
  return static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from);
}

/// Returns the number of keys before an account number, if each group has `drawn` + 1 keys.
std::int64_t place_of(AccountNumber number, std::int64_t drawn) {
  return (number >> kDrawnBits) * (drawn + 1) + std::min(drawn_of(number), drawn);
}

/// Returns the least number with at least so many keys before it.
AccountNumber number_at(std::int64_t place, std::int64_t drawn) {
  return (place / (drawn + 1) << kDrawnBits) + place % (drawn + 1);
}

/// Returns the distance without the gaps between groups.
std::uint64_t distance(std::int64_t from, std::int64_t to,
                       const std::optional<std::int64_t>& drawn) {
  if (drawn) return distance(place_of(from, *drawn), place_of(to, *drawn));
  return distance(from, to);
}

}  // namespace

std::optional<KeyBounds> KeyRanges::next() const {
  if (is_over_ || next_ > last_) return std::nullopt;
  const std::uint64_t left = distance(next_, last_, drawn_);
  if (width_ >= left) return KeyBounds{next_, last_};
  if (drawn_) {
    // The range ends before the next one, so that a new account in a gap belongs to a range.
    const auto place = place_of(next_, *drawn_) + static_cast<std::int64_t>(width_);
    return KeyBounds{next_, number_at(place + 1, *drawn_) - 1};
  }
  return KeyBounds{next_, static_cast<std::int64_t>(static_cast<std::uint64_t>(next_) + width_)};
}

void KeyRanges::complete(std::uint64_t rows) {
  const auto range = next();
  if (!range) return;
  if (range->last == last_) {
    is_over_ = true;
    return;
  }
  next_ = range->last + 1;
  const double change =
      rows == 0 ? kMostChange
                : std::clamp(static_cast<double>(rows_a_range_) / static_cast<double>(rows),
                             1 / kMostChange, kMostChange);
  // A range has at most the keys of a group, because the groups of other nodes are empty and would
  // widen it.
  const double width =
      std::min((static_cast<double>(width_) + 1) * change, std::ldexp(1.0, kComputedBits));
  width_ = static_cast<std::uint64_t>(std::max(width, 1.0)) - 1;
}

double part_before(KeyBounds bounds, std::int64_t next) {
  if (next <= bounds.first) return 0;
  if (next > bounds.last) return 1;
  return static_cast<double>(distance(bounds.first, next, bounds.drawn)) /
         (static_cast<double>(distance(bounds.first, bounds.last, bounds.drawn)) + 1);
}

}  // namespace skua::exports
