#include "settings.hpp"

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <string_view>
#include <thread>

#include <fmt/format.h>

#include "atproto/syntax.hpp"
#include "consumers/projections/projection.hpp"
#include "invocation.hpp"
#include "postgres/connection_string.hpp"
#include "transport/ca_file.hpp"
#include "transport/endpoint.hpp"

namespace skua::cli {

namespace {

constexpr std::string_view kOrder =
    "A setting is looked for in this order: flag, environment variable, TOML file (--config FILE "
    "or "
    "SKUA_CONFIG), default.";

std::string otherwise_of(const OptionText& setting) {
  const std::string& text = setting.default_for_people();
  return !text.empty() ? text : setting.is_boolean() ? "false" : "none";
}

/// Escapes vertical lines, which would otherwise end a table cell.
std::string cell(std::string text) {
  for (auto place = text.find('|'); place != text.npos; place = text.find('|', place + 2)) {
    text.insert(place, 1, '\\');
  }
  return text;
}

/// Returns the value for the example file: the default if it is one word, otherwise the type of the
/// value.
std::string example_value(const OptionText& setting) {
  const std::string& otherwise = setting.default_for_people();
  if (setting.is_boolean()) return "false";
  if (otherwise.empty() || otherwise.find(' ') != otherwise.npos) {
    return fmt::format("\"{}\"", setting.type);
  }
  const bool is_number =
      std::all_of(otherwise.begin(), otherwise.end(), [](char c) { return c >= '0' && c <= '9'; });
  return is_number ? std::string(otherwise) : fmt::format("\"{}\"", otherwise);
}

/// Returns a boolean, or a basic string of TOML.
std::string toml_value(const OptionText& setting, const std::string& value) {
  if (setting.is_boolean()) return value;
  std::string text = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') text += '\\';
    text += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return text + '"';
}

}  // namespace

std::string read_database(const SettingValue& given) {
  if (const auto problem = postgres::connection_string_problem(given.value)) {
    throw UsageError(fmt::format("{}: '{}': {}; expected postgresql://USER@HOST:PORT/DATABASE",
                                 given.origin, postgres::without_password(given.value), *problem));
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

documents::DnsServer read_dns(const SettingValue& given) {
  const auto server = documents::parse_dns_server(given.value);
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
  // The maximum sequence number is 2^53 (atproto.com/specs/event-stream).
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

atproto::GroupSet read_groups(const SettingValue& given) {
  const auto groups = atproto::GroupSet::parse(given.value);
  if (groups && !groups->has_none()) return *groups;
  throw UsageError(
      fmt::format("{}: '{}' are no groups: name numbers from 0 to 63 and ranges of them, such as "
                  "0-31,40",
                  given.origin, given.value));
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
  for (const consumers::Projection& each : consumers::projections())
    names.emplace_back(each.name, each.help);
  return names;
}

std::size_t decode_threads(const Invocation& invocation, bool is_verified) {
  if (const auto threads = invocation[kDecodeThreads]) return *threads;
  const unsigned cores = std::thread::hardware_concurrency();
  return std::max(1U, is_verified ? cores : cores / 2);
}

std::string settings_text() {
  std::string text = fmt::format("{}\n", kOrder);
  for (const OptionText* setting : all_settings()) {
    text += fmt::format("\n{} {}\n  {}\n  variable {}, key {}, default: {}\n", setting->name,
                        setting->type, setting->meaning, setting->environment, setting->key,
                        otherwise_of(*setting));
  }
  return text;
}

std::string settings_markdown() {
  std::string text =
      "| flag | variable | key in the file | default | meaning |\n|---|---|---|---|---|\n";
  for (const OptionText* setting : all_settings()) {
    const std::string type = setting->is_boolean() ? "" : fmt::format(" {}", cell(setting->type));
    text += fmt::format("| `{}{}` | `{}` | `{}` | {} | {} |\n", setting->name, type,
                        setting->environment, setting->key, cell(otherwise_of(*setting)),
                        cell(setting->meaning));
  }
  return text;
}

std::string setting_toml(const OptionText& setting, const std::optional<std::string>& value) {
  return fmt::format("# {}.\n# Default: {}.\n{}{} = {}\n", setting.meaning, otherwise_of(setting),
                     value ? "" : "#", setting.key,
                     value ? toml_value(setting, *value) : example_value(setting));
}

std::string settings_toml() {
  std::string text = fmt::format(
      "# Settings of Skua. To set one, remove the # before its key and change the value.\n# {}\n",
      kOrder);
  for (const OptionText* setting : all_settings()) {
    text += "\n" + setting_toml(*setting, std::nullopt);
  }
  return text;
}

}  // namespace skua::cli
