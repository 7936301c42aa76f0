#include "atproto/account_group.hpp"

#include <algorithm>
#include <charconv>
#include <system_error>

#include <fmt/format.h>

#include "atproto/sha256.hpp"
#include "base/bytes.hpp"

namespace skua::atproto {
namespace {

/// Reads a group of one or two digits.
std::optional<AccountGroup> parse_group(std::string_view text) {
  unsigned group = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, group);
  if (error != std::errc() || rest != end || text.size() > 2 || group >= kAccountGroups) {
    return std::nullopt;
  }
  return static_cast<AccountGroup>(group);
}

}  // namespace

AccountGroup account_group(std::string_view did) {
  return static_cast<AccountGroup>(sha256(as_bytes(did))[0] >> 2);
}

std::optional<GroupSet> GroupSet::parse(std::string_view text) {
  std::uint64_t bits = 0;
  if (text.empty()) return GroupSet(bits);
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view part = text.substr(begin, end - begin);
    begin = end + 1;
    const std::size_t dash = part.find('-');
    const auto first = parse_group(part.substr(0, dash));
    const auto last = dash == part.npos ? first : parse_group(part.substr(dash + 1));
    if (!first || !last || *first > *last) return std::nullopt;
    for (unsigned group = *first; group <= *last; ++group) bits |= std::uint64_t{1} << group;
  }
  return GroupSet(bits);
}

std::string GroupSet::text() const {
  if (has_none()) return "none";
  std::string text;
  for (unsigned group = 0; group < kAccountGroups; ++group) {
    if (!has(static_cast<AccountGroup>(group))) continue;
    unsigned last = group;
    while (has(static_cast<AccountGroup>(last + 1))) ++last;
    text += fmt::format("{}{}", text.empty() ? "" : ",", group);
    if (last > group) text += fmt::format("-{}", last);
    group = last;
  }
  return text;
}

std::string GroupSet::list() const {
  std::string list;
  for (unsigned group = 0; group < kAccountGroups; ++group) {
    if (!has(static_cast<AccountGroup>(group))) continue;
    list += fmt::format("{}{}", list.empty() ? "" : ",", group);
  }
  return list;
}

}  // namespace skua::atproto
