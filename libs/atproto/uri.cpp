#include "atproto/uri.hpp"

#include <algorithm>
#include <cstddef>

namespace skua::atproto {
namespace {

constexpr std::size_t kMaxUri = 8192;

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool is_scheme_char(char c) {
  return is_letter(c) || (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.' || c == '_';
}

bool is_blank_or_control(char c) {
  return static_cast<unsigned char>(c) <= 0x20 || c == 0x7f;
}

}  // namespace

bool is_uri(std::string_view text) {
  if (text.size() > kMaxUri) return false;
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos || colon == 0 || !is_letter(text[0])) return false;
  if (!std::all_of(text.begin(), text.begin() + colon, is_scheme_char)) return false;
  std::string_view rest = text.substr(colon + 1);
  if (rest.starts_with("//")) rest.remove_prefix(2);
  return !rest.empty() && rest[0] != '/' &&
         std::none_of(rest.begin(), rest.end(), is_blank_or_control);
}

}  // namespace skua::atproto
