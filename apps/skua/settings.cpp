#include "settings.hpp"

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <thread>

#include <fmt/format.h>

#include "atproto/syntax.hpp"
#include "feed/projections/projection.hpp"
#include "invocation.hpp"
#include "store/connection_string.hpp"
#include "transport/ca_file.hpp"
#include "transport/endpoint.hpp"

namespace skua::cli {

std::string read_database(const SettingValue& given) {
  if (const auto problem = store::connection_string_problem(given.value)) {
    throw UsageError(fmt::format("{}: '{}': {}; expected postgresql://USER@HOST:PORT/DATABASE",
                                 given.origin, store::without_password(given.value), *problem));
  }
  return given.value;
}

std::string read_plc(const SettingValue& given) {
  if (const auto url = transport::parse_http_url(given.value); !url) {
    throw UsageError(fmt::format("{}: '{}': {}; expected a URL such as https://plc.directory",
                                 given.origin, given.value, url.error().message()));
  }
  return given.value;
}

std::string read_ca_file(const SettingValue& given) {
  require_file(given.origin, given.value);
  try {
    transport::check_ca_file(given.value);
  } catch (const std::runtime_error& error) {
    throw UsageError(
        fmt::format("{}: {}; expected certificates in PEM form", given.origin, error.what()));
  }
  return given.value;
}

identity::DnsServer read_dns(const SettingValue& given) {
  const auto server = identity::parse_dns_server(given.value);
  if (!server) {
    throw UsageError(
        fmt::format("{}: '{}': expected the IP address of a DNS server, ADDRESS or ADDRESS:PORT",
                    given.origin, given.value));
  }
  return *server;
}

sources::CursorChoice read_cursor(const SettingValue& given) {
  using Kind = sources::CursorChoice::Kind;
  if (given.value == "live") return {Kind::Live, 0};
  if (given.value == "oldest") return {Kind::Oldest, 0};
  // Sequence numbers go up to 2^53 (atproto.com/specs/event-stream).
  constexpr std::int64_t kHighest = std::int64_t{1} << 53;
  std::int64_t seq = 0;
  const char* end = given.value.data() + given.value.size();
  const auto [stop, error] = std::from_chars(given.value.data(), end, seq);
  if (error != std::errc{} || stop != end || seq < 0 || seq > kHighest) {
    throw UsageError(fmt::format("{}: '{}' is neither live nor oldest nor a sequence number",
                                 given.origin, given.value));
  }
  return {Kind::At, seq};
}

std::chrono::seconds read_audit_interval(const SettingValue& given) {
  if (given.value == "off") return std::chrono::seconds(0);
  return duration(given, std::chrono::minutes(1), std::chrono::days(365));
}

std::string read_signal_collection(const SettingValue& given) {
  if (!atproto::is_nsid(given.value)) {
    throw UsageError(
        fmt::format("{}: '{}' is not a collection; an example is app.bsky.feed.generator",
                    given.origin, given.value));
  }
  return given.value;
}

std::vector<std::pair<std::string, std::string>> projection_names() {
  std::vector<std::pair<std::string, std::string>> names;
  for (const feed::Projection& each : feed::projections()) names.emplace_back(each.name, each.help);
  return names;
}

std::size_t decode_threads(const Invocation& invocation, bool is_verified) {
  if (const auto threads = invocation[kDecodeThreads]) return *threads;
  const unsigned cores = std::thread::hardware_concurrency();
  return std::max(1U, is_verified ? cores : cores / 2);
}

}  // namespace skua::cli
