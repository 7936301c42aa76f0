#pragma once

#include <cstdint>
#include <optional>

#include "exports/source.hpp"

namespace skua::exports {

/// Divides the keys of a source into ranges, in ascending order. The first range is narrow; each
/// further one is as wide as its predecessor's rows suggest, so that a range has about
/// `rows_a_range` rows, however many rows a key has. The gaps between the groups of account numbers
/// do not count. Owned by one thread.
class KeyRanges {
 public:
  KeyRanges(KeyBounds bounds, std::uint64_t rows_a_range)
      : next_(bounds.first),
        last_(bounds.last),
        drawn_(bounds.drawn),
        rows_a_range_(rows_a_range) {}

  /// Returns the next range; nothing if all are complete.
  std::optional<KeyBounds> next() const;
  /// States that the range of `next` is complete and had so many rows.
  void complete(std::uint64_t rows);

 private:
  std::int64_t next_;
  std::int64_t last_;
  std::optional<std::int64_t> drawn_;
  std::uint64_t rows_a_range_;
  /// The number of keys of the next range, less one.
  std::uint64_t width_ = 15;
  bool is_over_ = false;
};

/// Returns the part of the keys between `bounds` that lies before `next`, from 0 to 1.
double part_before(KeyBounds bounds, std::int64_t next);

}  // namespace skua::exports
