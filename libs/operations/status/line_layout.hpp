#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/time.hpp"

namespace skua::status {

/// Lines on stdout are at most this wide.
inline constexpr std::size_t kLineWidth = 80;
/// A continuation line begins below the text of the first line, which follows a time of day.
inline constexpr std::size_t kIndent = 10;

/// Joins parts with two spaces. If a part would exceed the width, it begins a new, indented line. A
/// part that is longer than a line is cut. There is no newline at the end.
std::string laid_out(const std::vector<std::string>& parts, std::size_t width = kLineWidth);

/// Joins parts in the same way, but indents all lines, the first one included.
std::string indented(const std::vector<std::string>& parts, std::size_t width = kLineWidth);

/// Returns the time of day in UTC: `14:38:18`.
std::string clock_time(Timestamp at);

// These functions convert columns that may be null to JSON.

template <class T>
nlohmann::json or_null(const std::optional<T>& value) {
  return value ? nlohmann::json(*value) : nlohmann::json(nullptr);
}

/// Returns a time as RFC 3339, in the form of format_datetime.
nlohmann::json or_null(const std::optional<Timestamp>& time);

}  // namespace skua::status
