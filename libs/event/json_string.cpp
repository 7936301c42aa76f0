#include "event/json_string.hpp"

#include <cstdint>
#include <optional>

#include "event/json_scan.hpp"

namespace skua::event {
namespace {

std::optional<char> short_escape(char c) {
  switch (c) {
    case '"':
    case '\\':
    case '/':
      return c;
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    default:
      return std::nullopt;
  }
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/// Consumes the four digits of a \u at the front.
std::optional<std::uint32_t> take_unit(std::string_view& rest) {
  if (rest.size() < 4) return std::nullopt;
  std::uint32_t unit = 0;
  for (const char c : rest.substr(0, 4)) {
    const int digit = hex_digit(c);
    if (digit < 0) return std::nullopt;
    unit = unit << 4 | static_cast<std::uint32_t>(digit);
  }
  rest.remove_prefix(4);
  return unit;
}

/// Consumes the digits after \u: one unit, or a pair of surrogates.
std::optional<std::uint32_t> take_code_point(std::string_view& rest) {
  const auto high = take_unit(rest);
  if (!high || *high < 0xd800 || *high > 0xdfff) return high;
  if (*high > 0xdbff || !rest.starts_with("\\u")) return std::nullopt;
  rest.remove_prefix(2);
  const auto low = take_unit(rest);
  if (!low || *low < 0xdc00 || *low > 0xdfff) return std::nullopt;
  return 0x10000 + ((*high - 0xd800) << 10) + (*low - 0xdc00);
}

void append_utf8(std::string& out, std::uint32_t code) {
  const auto push = [&](std::uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (code < 0x80) return push(code);
  if (code < 0x800) {
    push(0xc0 | code >> 6);
  } else {
    if (code < 0x10000) {
      push(0xe0 | code >> 12);
    } else {
      push(0xf0 | code >> 18);
      push(0x80 | (code >> 12 & 0x3f));
    }
    push(0x80 | (code >> 6 & 0x3f));
  }
  push(0x80 | (code & 0x3f));
}

}  // namespace

bool append_unescaped(std::string& out, std::string_view content) {
  while (true) {
    const char* const begin = content.data();
    const char* const special = end_of_plain_text(begin, begin + content.size());
    const auto plain = static_cast<std::size_t>(special - begin);
    out.append(content, 0, plain);
    content.remove_prefix(plain);
    if (content.empty()) return true;
    if (content.size() < 2 || content[0] != '\\') return false;
    const char kind = content[1];
    content.remove_prefix(2);
    if (kind == 'u') {
      const auto code = take_code_point(content);
      if (!code) return false;
      append_utf8(out, *code);
    } else {
      const auto c = short_escape(kind);
      if (!c) return false;
      out.push_back(*c);
    }
  }
}

}  // namespace skua::event
