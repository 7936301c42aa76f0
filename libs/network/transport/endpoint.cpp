#include "transport/endpoint.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <charconv>
#include <netinet/in.h>

#include <fmt/format.h>

#include "base/text.hpp"
#include "transport/errc.hpp"

namespace skua::transport {
namespace {

constexpr std::size_t kMaxHostLength = 253;
constexpr std::size_t kMaxLabelLength = 63;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_alphanumeric(char c) {
  return is_digit(c) || (ascii_lower(c) >= 'a' && ascii_lower(c) <= 'z');
}

/// Whether a host consists of labels between dots, each of at most 63 letters, digits, `-` and `_`.
/// A last dot is allowed.
bool has_labels(std::string_view host) {
  if (!host.empty() && host.back() == '.') host.remove_suffix(1);
  if (host.empty() || host.size() > kMaxHostLength) return false;
  std::size_t length = 0;
  for (const char c : host) {
    if (c == '.' && length == 0) return false;
    length = c == '.' ? 0 : length + 1;
    if (length > kMaxLabelLength) return false;
    if (c != '.' && c != '-' && c != '_' && !is_alphanumeric(c)) return false;
  }
  return length > 0;
}

/// `family` is AF_INET or AF_INET6.
bool is_ip_address(int family, const std::string& text) {
  in6_addr bytes{};
  return ::inet_pton(family, text.c_str(), &bytes) == 1;
}

/// Whether a host is a name or an IPv4 address. No top-level domain is a number, so a host whose
/// last label is a number must be an address.
bool is_host_name(std::string_view host) {
  if (!has_labels(host)) return false;
  const auto last = host.substr(host.rfind('.') + 1);
  const bool is_number = !last.empty() && std::all_of(last.begin(), last.end(), is_digit);
  return !is_number || is_ip_address(AF_INET, std::string(host));
}

/// Whether the host is accepted without a scheme.
bool is_plain_host(const std::string& host) {
  return host == "localhost" || host.find_first_of(".:") != std::string::npos;
}

bool has_cursor(std::string_view query) {
  return query.starts_with("cursor=") || query.find("&cursor=") != std::string_view::npos;
}

std::optional<std::uint16_t> parse_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size() || port == 0) return std::nullopt;
  return port;
}

/// Reads the part after the scheme: host, port, path and query.
Result<Endpoint> parse_after_scheme(std::string_view url, bool tls) {
  Endpoint endpoint;
  endpoint.tls = tls;
  auto authority = url.substr(0, url.find_first_of("/?#"));
  const auto rest = url.substr(authority.size());
  if (authority.find('@') != std::string_view::npos) return errc::url_credentials;

  std::string_view port_text;
  bool has_port = false;
  if (authority.starts_with('[')) {
    const auto close = authority.find(']');
    if (close == std::string_view::npos) return errc::url_host;
    const auto host = authority.substr(1, close - 1);
    if (!is_ip_address(AF_INET6, std::string(host))) return errc::url_host;
    endpoint.host = ascii_lower(host);
    const auto after = authority.substr(close + 1);
    if (!after.empty() && after.front() != ':') return errc::url_host;
    has_port = !after.empty();
    if (has_port) port_text = after.substr(1);
  } else {
    const auto colon = authority.find(':');
    has_port = colon != std::string_view::npos;
    if (has_port) port_text = authority.substr(colon + 1);
    const auto host = authority.substr(0, colon);
    if (!is_host_name(host)) return errc::url_host;
    endpoint.host = ascii_lower(host);
  }
  endpoint.port = endpoint.tls ? 443 : 80;
  if (has_port) {
    const auto port = parse_port(port_text);
    if (!port) return errc::url_port;
    endpoint.port = *port;
  }

  if (std::any_of(rest.begin(), rest.end(),
                  [](char c) { return c <= ' ' || c > '~' || c == '#'; })) {
    return errc::url_path;
  }
  const auto question = rest.find('?');
  endpoint.path = std::string(rest.substr(0, question));
  if (question != std::string_view::npos) endpoint.query = std::string(rest.substr(question + 1));
  return endpoint;
}

}  // namespace

Result<Endpoint> parse_endpoint(std::string_view url, std::string_view default_path) {
  url = trimmed(url);
  if (url.empty()) return errc::url_empty;

  bool tls = true;
  const auto scheme_end = url.find("://");
  const bool has_scheme = scheme_end != std::string_view::npos;
  if (has_scheme) {
    const auto scheme = ascii_lower(url.substr(0, scheme_end));
    if (scheme == "ws" || scheme == "http") {
      tls = false;
    } else if (scheme != "wss" && scheme != "https") {
      return errc::url_scheme;
    }
    url.remove_prefix(scheme_end + 3);
  }
  auto endpoint = parse_after_scheme(url, tls);
  if (!endpoint) return endpoint;
  if (!has_scheme && !is_plain_host(endpoint->host)) return errc::url_word;
  if (endpoint->path.empty() || endpoint->path == "/") endpoint->path = std::string(default_path);
  if (has_cursor(endpoint->query)) return errc::url_cursor;
  return endpoint;
}

Result<Endpoint> parse_http_url(std::string_view url) {
  url = trimmed(url);
  if (url.empty()) return errc::url_empty;
  const auto scheme_end = std::min(url.find("://"), url.size());
  const auto scheme = ascii_lower(url.substr(0, scheme_end));
  if (scheme != "http" && scheme != "https") return errc::url_http_scheme;
  url.remove_prefix(std::min(scheme_end + 3, url.size()));
  // A fragment is never sent.
  auto endpoint = parse_after_scheme(url.substr(0, url.find('#')), scheme == "https");
  if (!endpoint) return endpoint;
  if (endpoint->path.empty()) endpoint->path = "/";
  return endpoint;
}

std::string Endpoint::authority() const {
  const bool ipv6 = host.find(':') != std::string::npos;
  auto text = ipv6 ? fmt::format("[{}]", host) : host;
  if (port != (tls ? 443 : 80)) text += fmt::format(":{}", port);
  return text;
}

std::string Endpoint::url() const {
  return fmt::format("{}://{}{}", tls ? "wss" : "ws", authority(), target(std::nullopt));
}

std::string Endpoint::http_url() const {
  return fmt::format("{}://{}{}", tls ? "https" : "http", authority(), target(std::nullopt));
}

std::string Endpoint::target(std::optional<std::int64_t> cursor) const {
  auto text = path;
  if (!query.empty()) text.append(1, '?').append(query);
  if (cursor) text += fmt::format("{}cursor={}", query.empty() ? '?' : '&', *cursor);
  return text;
}

}  // namespace skua::transport
