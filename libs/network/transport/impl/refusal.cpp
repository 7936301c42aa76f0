#include "transport/impl/refusal.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/text.hpp"

namespace skua::transport::impl {

namespace {

/// Removes dot segments (RFC 3986, section 5.2.4) from a path that begins with a slash.
std::string without_dot_segments(std::string_view path) {
  std::vector<std::string_view> segments;
  while (!path.empty()) {
    path.remove_prefix(1);
    const std::string_view segment = path.substr(0, path.find('/'));
    path.remove_prefix(segment.size());
    const bool is_last = path.empty();
    if (segment == "..") {
      if (!segments.empty()) segments.pop_back();
    } else if (segment != ".") {
      segments.push_back(segment);
      continue;
    }
    // A last `.` or `..` names the folder itself, so the path ends in a slash.
    if (is_last) segments.emplace_back();
  }
  std::string result;
  for (const std::string_view segment : segments) result.append("/").append(segment);
  return result;
}

Result<Endpoint> absolute(std::string_view url) {
  auto endpoint = parse_http_url(url);
  if (endpoint) endpoint->path = without_dot_segments(endpoint->path);
  return endpoint;
}

/// A longer body, such as an HTML page, does not explain the refusal.
constexpr std::size_t kMaxBody = 8 * 1024;
constexpr std::size_t kMaxShown = 200;

/// Makes the text of a foreign host safe for one line of a log.
std::string one_line(std::string_view text) {
  if (!is_utf8(text)) return {};
  std::string line(text.substr(0, kMaxShown));
  while (!is_utf8(line)) line.pop_back();
  std::replace_if(
      line.begin(), line.end(),
      [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; }, ' ');
  return std::string(trimmed(line));
}

std::string text_at(const nlohmann::json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_string()) return {};
  return one_line(found->get_ref<const std::string&>());
}

}  // namespace

Result<Endpoint> redirect_target(const Endpoint& from, std::string_view location) {
  // The fragment is never sent.
  location = location.substr(0, location.find('#'));
  const std::size_t scheme_end = location.find(':');
  // A colon before the first slash or question mark ends a scheme, even a scheme that we refuse.
  if (scheme_end != std::string_view::npos && scheme_end < location.find_first_of("/?")) {
    return absolute(location);
  }
  const std::string scheme = from.tls ? "https:" : "http:";
  if (location.starts_with("//")) return absolute(scheme + std::string(location));

  const std::string_view path = location.substr(0, location.find('?'));
  std::string query(location.substr(path.size()));
  std::string target;
  if (path.empty()) {
    target = from.path;
    if (query.empty() && !from.query.empty()) query = "?" + from.query;
  } else if (path.starts_with('/')) {
    target = path;
  } else {
    target = from.path.substr(0, from.path.rfind('/') + 1).append(path);
  }
  return absolute(scheme + "//" + from.authority() + target + query);
}

UpgradeRefusal read_refusal(unsigned status, std::string_view body) {
  UpgradeRefusal refusal{status, {}, {}};
  if (body.size() > kMaxBody) return refusal;
  const auto json = nlohmann::json::parse(body, nullptr, false);
  if (json.is_object()) {
    refusal.error = text_at(json, "error");
    refusal.message = text_at(json, "message");
  } else if (body.find('<') == std::string_view::npos) {
    refusal.message = one_line(body);
  }
  return refusal;
}

}  // namespace skua::transport::impl
