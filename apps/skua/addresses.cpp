#include "addresses.hpp"

#include <arpa/inet.h>
#include <charconv>
#include <netinet/in.h>
#include <string_view>

#include <fmt/format.h>

#include "base/text.hpp"

namespace skua::cli {
namespace {

bool is_ip_address(const std::string& text) {
  in6_addr bytes{};
  return ::inet_pton(AF_INET, text.c_str(), &bytes) == 1 ||
         ::inet_pton(AF_INET6, text.c_str(), &bytes) == 1;
}

bool read_port(std::string_view text, std::uint16_t& port) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  return !text.empty() && error == std::errc() && end == text.data() + text.size();
}

std::string origin_of_url(const SettingValue& given) {
  const auto endpoint = transport::parse_http_url(given.value);
  if (endpoint.has_error() || !endpoint->query.empty()) {
    throw UsageError(
        fmt::format("{}: '{}': {}; an example is http://127.0.0.1:2580", given.origin, given.value,
                    endpoint.has_error() ? endpoint.error().message() : "a query is not expected"));
  }
  std::string origin = endpoint->http_url();
  while (origin.ends_with('/')) origin.pop_back();
  return origin;
}

/// Returns the origin of the pages if the setting is the address on which `skua run` listens.
std::string origin_of_address(const SettingValue& given) {
  ListenAddress address = listen_address(given);
  if (address.port == 0) throw UsageError(fmt::format("{}: port 0 names no pages", given.origin));
  if (address.address == "0.0.0.0") address.address = "127.0.0.1";
  if (address.address == "::") address.address = "::1";
  return "http://" + address.text();
}

}  // namespace

std::string ListenAddress::text() const {
  return address.find(':') == std::string::npos ? fmt::format("{}:{}", address, port)
                                                : fmt::format("[{}]:{}", address, port);
}

ListenAddress listen_address(const SettingValue& given) {
  const auto colon = given.value.rfind(':');
  ListenAddress result;
  if (colon != std::string::npos && read_port(given.value.substr(colon + 1), result.port)) {
    auto address = given.value.substr(0, colon);
    const bool has_brackets = address.starts_with('[') && address.ends_with(']');
    if (has_brackets) address = address.substr(1, address.size() - 2);
    if (address.empty() || address == "localhost") address = "127.0.0.1";
    const bool is_ipv6 = address.find(':') != std::string::npos;
    if (is_ip_address(address) && is_ipv6 == has_brackets) {
      result.address = address;
      return result;
    }
  }
  throw UsageError(
      fmt::format("{}: '{}' is not an address to listen on; expected 127.0.0.1:2470 or [::1]:2470",
                  given.origin, given.value));
}

std::string http_host(const SettingValue& given) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz0123456789-._";
  std::string host = ascii_lower(given.value);
  if (host.find_first_not_of(kLetters) != std::string::npos) {
    throw UsageError(
        fmt::format("{}: '{}' is not a host name; expected a name without scheme and port, such as "
                    "skua.example.com",
                    given.origin, given.value));
  }
  return host;
}

http_server::AddressRange trusted_proxy(const SettingValue& given) {
  const auto range = http_server::AddressRange::parse(given.value);
  if (!range) {
    throw UsageError(
        fmt::format("{}: '{}' is neither an IP address nor a prefix; expected 127.0.0.1, ::1 or "
                    "10.0.0.0/8",
                    given.origin, given.value));
  }
  return *range;
}

std::string pages_origin(const SettingValue& given) {
  if (given.value == "off") {
    throw UsageError(
        fmt::format("{} is off: `skua run` has no pages; name others with --http", given.origin));
  }
  return given.value.find("://") == std::string::npos ? origin_of_address(given)
                                                      : origin_of_url(given);
}

transport::Endpoint stream_address(const SettingValue& given, std::string_view default_path,
                                   const char* example) {
  const auto endpoint = transport::parse_endpoint(given.value, default_path);
  if (endpoint.has_error()) {
    throw UsageError(fmt::format("{}: '{}': {}; an example is {}", given.origin, given.value,
                                 endpoint.error().message(), example));
  }
  return *endpoint;
}

transport::Endpoint relay_address(const SettingValue& given) {
  return stream_address(given, transport::kSubscribeReposPath, "wss://relay1.us-east.bsky.network");
}

std::string http_origin(transport::Endpoint endpoint) {
  endpoint.path.assign(1, '/');
  endpoint.query.clear();
  std::string origin = endpoint.http_url();
  origin.pop_back();  // the final slash
  return origin;
}

std::string host_origin(const SettingValue& given) {
  return http_origin(stream_address(given, transport::kSubscribeReposPath, "https://pds.example"));
}

}  // namespace skua::cli
