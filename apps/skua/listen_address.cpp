#include "listen_address.hpp"

#include <arpa/inet.h>
#include <charconv>
#include <netinet/in.h>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/ascii.hpp"
#include "relay_address.hpp"

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

}  // namespace

std::string ListenAddress::text() const {
  return address.find(':') == std::string::npos ? fmt::format("{}:{}", address, port)
                                                : fmt::format("[{}]:{}", address, port);
}

ListenAddress listen_address(const Found& found) {
  const auto colon = found.value.rfind(':');
  ListenAddress result;
  if (colon != std::string::npos && read_port(found.value.substr(colon + 1), result.port)) {
    auto address = found.value.substr(0, colon);
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
                  found.origin, found.value));
}

std::vector<std::string> http_hosts(const Settings& settings,
                                    const std::vector<std::string>& flags) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz0123456789-._";
  std::vector<std::string> hosts;
  for (const Found& found : all_of(settings, kHttpHost, flags)) {
    std::string host = ascii_lower(found.value);
    if (host.find_first_not_of(kLetters) != std::string::npos) {
      throw UsageError(fmt::format(
          "{}: '{}' is not a host name; expected a name without scheme and port, such as "
          "skua.example.com",
          found.origin, found.value));
    }
    hosts.push_back(std::move(host));
  }
  return hosts;
}

}  // namespace skua::cli
