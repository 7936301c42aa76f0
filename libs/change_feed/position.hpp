#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace skua::change_feed {

/// A position of the change log outside of the database: `1-4711`. A cursor is the position of the
/// last change that a client has: the next one follows. 0: before the first change.
struct Position {
  std::int32_t timeline = 0;
  std::int64_t pos = 0;

  std::string text() const;

  friend bool operator==(const Position&, const Position&) = default;
};

/// Nothing: the text has another form, or the numbers are too large.
std::optional<Position> parse_position(std::string_view text);

}  // namespace skua::change_feed
