#include "store/connection_string.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <memory>
#include <string_view>

#include <fmt/format.h>
#include <libpq-fe.h>

#include "base/ascii.hpp"

namespace skua::store {
namespace {

constexpr std::string_view kHidden = "***";
constexpr std::array<std::string_view, 6> kSslModes = {"disable", "allow",     "prefer",
                                                       "require", "verify-ca", "verify-full"};

using ConnectionOptions = std::unique_ptr<PQconninfoOption, decltype(&PQconninfoFree)>;

/// Null: malformed; `problem` has the reason.
ConnectionOptions parse_options(const std::string& text, std::string& problem) {
  char* message = nullptr;
  ConnectionOptions options(PQconninfoParse(text.c_str(), &message), &PQconninfoFree);
  if (!options) {
    problem = message == nullptr ? "out of memory" : std::string(skua::trimmed(message));
    PQfreemem(message);
  }
  return options;
}

bool is_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  return error == std::errc() && end == text.data() + text.size() && port != 0;
}

/// One port for each host, separated by commas; an empty one is the default.
bool are_ports(std::string_view list) {
  for (;;) {
    const auto comma = list.find(',');
    const auto port = list.substr(0, comma);
    if (!port.empty() && !is_port(port)) return false;
    if (comma == std::string_view::npos) return true;
    list.remove_prefix(comma + 1);
  }
}

/// Values that libpq checks only when it connects. Retrying would never help.
std::optional<std::string> value_problem(const PQconninfoOption& option) {
  if (option.val == nullptr) return std::nullopt;
  const std::string_view name = option.keyword;
  const std::string_view value = option.val;
  if (name == "port" && !are_ports(value)) {
    return fmt::format("the port must be a number from 1 to 65535, not '{}'", value);
  }
  if (name == "sslmode" &&
      std::find(kSslModes.begin(), kSslModes.end(), value) == kSslModes.end()) {
    return fmt::format("sslmode must be one of {}, not '{}'", fmt::join(kSslModes, ", "), value);
  }
  return std::nullopt;
}

/// `name='value'`.
std::string pair_text(std::string_view name, std::string_view value) {
  std::string text = fmt::format("{}='", name);
  for (const char c : value) {
    if (c == '\'' || c == '\\') text += '\\';
    text += c;
  }
  return text + "'";
}

}  // namespace

std::string without_password(std::string text) {
  const auto scheme = text.find("://");
  const auto at = scheme == std::string::npos ? scheme : text.rfind('@');
  if (at != std::string::npos && at > scheme) {
    const auto colon = text.find(':', scheme + 3);
    if (colon < at) text.replace(colon + 1, at - colon - 1, kHidden);
  }
  constexpr std::string_view kParameter = "password";
  for (auto found = text.find(kParameter); found != std::string::npos;
       found = text.find(kParameter, found + kParameter.size())) {
    const auto value = text.find_first_not_of(" =", found + kParameter.size());
    if (value == std::string::npos) break;
    const bool is_quoted = text[value] == '\'';
    const auto end = is_quoted ? text.find('\'', value + 1) : text.find_first_of(" &", value);
    const auto behind = end == std::string::npos ? text.size() : end + (is_quoted ? 1 : 0);
    text.replace(value, behind - value, kHidden);
  }
  return text;
}

std::optional<std::string> connection_string_problem(const std::string& text) {
  if (skua::trimmed(text).empty()) return "it is empty";
  std::string problem;
  const ConnectionOptions options = parse_options(text, problem);
  if (!options) {
    // libpq repeats the string in its message, so it only gets the part that may be shown.
    std::string shown;
    if (parse_options(without_password(text), shown)) {
      return "the password is malformed: in a URL, special characters are percent-encoded";
    }
    return shown;
  }
  for (const PQconninfoOption* option = options.get(); option->keyword != nullptr; ++option) {
    if (auto wrong = value_problem(*option)) return wrong;
  }
  return std::nullopt;
}

ConnectionNames connection_names(const std::string& text) {
  std::string problem;
  const ConnectionOptions given = parse_options(text, problem);
  const ConnectionOptions defaults(PQconndefaults(), &PQconninfoFree);
  const auto value = [](const ConnectionOptions& options, std::string_view name) {
    for (const PQconninfoOption* one = options.get(); one && one->keyword != nullptr; ++one) {
      if (one->keyword == name && one->val != nullptr) return std::string(one->val);
    }
    return std::string();
  };
  const auto named = [&](std::string_view name) {
    std::string found = value(given, name);
    return found.empty() ? value(defaults, name) : found;
  };
  ConnectionNames names;
  names.user = named("user");
  names.database = named("dbname");
  if (names.database.empty()) names.database = names.user;
  names.has_password = !value(given, "password").empty();
  return names;
}

std::string with_database(const std::string& text, const std::string& database) {
  std::string problem;
  const ConnectionOptions options = parse_options(text, problem);
  std::string result = pair_text("dbname", database);
  for (const PQconninfoOption* one = options.get(); one && one->keyword != nullptr; ++one) {
    if (one->val == nullptr || std::string_view(one->keyword) == "dbname") continue;
    result += ' ' + pair_text(one->keyword, one->val);
  }
  return result;
}

}  // namespace skua::store
