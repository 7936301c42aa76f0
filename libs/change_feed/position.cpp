#include "change_feed/position.hpp"

#include <charconv>

#include <fmt/format.h>

namespace skua::change_feed {
namespace {

/// A number without sign and leading zeros.
template <class Number>
bool read_number(std::string_view text, Number& number) {
  if (text.empty() || text.front() < '0' || text.front() > '9') return false;
  if (text.size() > 1 && text.front() == '0') return false;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

std::string Position::text() const {
  return fmt::format("{}-{}", timeline, pos);
}

std::optional<Position> parse_position(std::string_view text) {
  const auto dash = text.find('-');
  Position position;
  if (dash == std::string_view::npos || !read_number(text.substr(0, dash), position.timeline) ||
      !read_number(text.substr(dash + 1), position.pos)) {
    return std::nullopt;
  }
  return position;
}

}  // namespace skua::change_feed
