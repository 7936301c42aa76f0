#include "status/line_layout.hpp"

#include <chrono>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "base/text.hpp"

namespace skua::status {

namespace {

constexpr std::string_view kSeparator = "  ";

/// Returns the number of characters of well-formed UTF-8.
std::size_t characters(std::string_view text) {
  std::size_t count = 0;
  for (const char byte : text) {
    if ((static_cast<unsigned char>(byte) & 0xC0U) != 0x80U) ++count;
  }
  return count;
}

std::string lay_out(const std::vector<std::string>& parts, std::size_t width, bool is_indented) {
  const std::string indent(kIndent, ' ');
  std::string text = is_indented ? indent : std::string();
  std::size_t used = text.size();
  bool is_first = true;
  for (const std::string& part : parts) {
    const std::string shown = printable(part, width - kIndent);
    const std::size_t length = characters(shown);
    if (!is_first && used + kSeparator.size() + length > width) {
      text += "\n" + indent;
      used = kIndent;
    } else if (!is_first) {
      text += kSeparator;
      used += kSeparator.size();
    }
    text += shown;
    used += length;
    is_first = false;
  }
  return text;
}

}  // namespace

std::string laid_out(const std::vector<std::string>& parts, std::size_t width) {
  return lay_out(parts, width, false);
}

std::string indented(const std::vector<std::string>& parts, std::size_t width) {
  return lay_out(parts, width, true);
}

std::string clock_time(Timestamp at) {
  return fmt::format(
      "{:%H:%M:%S}",
      fmt::gmtime(std::chrono::duration_cast<std::chrono::seconds>(at.time_since_epoch()).count()));
}

nlohmann::json or_null(const std::optional<Timestamp>& time) {
  return time ? nlohmann::json(format_datetime(*time)) : nlohmann::json(nullptr);
}

}  // namespace skua::status
