#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/time.hpp"

namespace skua::status {

/// The width for which lines on stdout are made.
inline constexpr std::size_t kLineWidth = 80;
/// Lines that continue another one begin below its text, which follows a time of day.
inline constexpr std::size_t kIndent = 10;

/// Joins parts with two spaces, and goes on in an indented line before one that would exceed the
/// width. A part that is longer than a line is cut. No newline at the end.
std::string laid_out(const std::vector<std::string>& parts, std::size_t width = kLineWidth);

/// The same as lines of their own, all of them indented.
std::string indented(const std::vector<std::string>& parts, std::size_t width = kLineWidth);

/// `14:38:18`, UTC.
std::string clock_time(Timestamp at);

// Columns that may be null, as JSON.

template <class T>
nlohmann::json or_null(const std::optional<T>& value) {
  return value ? nlohmann::json(*value) : nlohmann::json(nullptr);
}

/// A time as RFC 3339, in the form of format_datetime.
nlohmann::json or_null(const std::optional<Timestamp>& time);

}  // namespace skua::status
