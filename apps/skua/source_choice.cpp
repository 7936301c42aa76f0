#include "source_choice.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/bytes.hpp"
#include "cursor_choice.hpp"
#include "relay_address.hpp"
#include "verification.hpp"

namespace skua::cli {
namespace {

constexpr const char* kChannel = "/channel";
constexpr const char* kSubscribe = "/subscribe";
constexpr const char* kSubscribeLabels = "/xrpc/com.atproto.label.subscribeLabels";

transport::Endpoint address(const Found& found, const char* default_path, const char* example) {
  const auto endpoint = transport::parse_endpoint(found.value, default_path);
  if (endpoint.has_error()) {
    throw UsageError(fmt::format("{}: '{}': {}; an example is {}", found.origin, found.value,
                                 endpoint.error().message(), example));
  }
  return *endpoint;
}

std::string read_file(const Found& found) {
  std::ifstream in(found.value, std::ios::binary);
  std::string content{std::istreambuf_iterator<char>(in), {}};
  if (!in.good() && !in.eof()) {
    throw UsageError(fmt::format("{}: {} cannot be read", found.origin, found.value));
  }
  return content;
}

/// The first line of a file: editors end it with a newline, which is no part of a password.
std::string read_password(const Found& found) {
  std::string password = read_file(found);
  password.erase(std::min(password.find_first_of("\r\n"), password.size()));
  if (password.empty()) {
    throw UsageError(fmt::format("{}: {} holds no password", found.origin, found.value));
  }
  return password;
}

sources::Source jetstream_source(const Settings& settings, const SourceFlags& flags,
                                 const Found& url) {
  sources::JetstreamSource source;
  source.endpoint = address(url, kSubscribe, "wss://jetstream2.us-east.bsky.network");
  if (source.endpoint.path.find("subscribeEvents") != std::string::npos) {
    source.version = sources::JetstreamSource::Version::V2;
  }
  if (const auto cursor = settings.find(kCursor, flags.cursor)) {
    source.cursor = cursor_choice(*cursor);
  }
  if (const auto file = settings.find(kZstdDictionary, flags.zstd_dictionary)) {
    try {
      source.dictionary =
          std::make_shared<const transport::ZstdDictionary>(as_bytes(read_file(*file)));
    } catch (const std::runtime_error& error) {
      throw UsageError(fmt::format("{}: {}: {}", file->origin, file->value, error.what()));
    }
  }
  return source;
}

/// Nobody is named twice, and numbers are one source's.
void check_together(const std::vector<sources::Source>& sources, const Settings& settings,
                    const SourceFlags& flags) {
  for (auto one = sources.begin(); one != sources.end(); ++one) {
    const std::string name = sources::source_name(*one);
    if (std::any_of(sources.begin(), one, [&](const sources::Source& other) {
          return sources::source_name(other) == name;
        })) {
      throw UsageError(fmt::format("{} is named twice", name));
    }
  }
  const auto numbered = std::count_if(sources.begin(), sources.end(), [](const auto& source) {
    return !std::holds_alternative<sources::TapSource>(source);
  });
  if (flags.cursor && numbered == 0) {
    throw UsageError("--cursor: a Tap has none, it keeps what was not acknowledged");
  }
  const auto cursor = settings.find(kCursor, flags.cursor);
  if (cursor && numbered > 1 && cursor_choice(*cursor).kind == sources::CursorChoice::Kind::At) {
    throw UsageError(cursor->origin +
                     ": a number is of one source, and there are several: live or oldest");
  }
}

sources::Source relay_source(const Settings& settings, const SourceFlags& flags, const Found& url) {
  sources::RelaySource source{relay_address(url), {}};
  if (const auto cursor = settings.find(kCursor, flags.cursor)) {
    source.cursor = cursor_choice(*cursor);
  }
  return source;
}

sources::Source labeler_source(const Settings& settings, const SourceFlags& flags,
                               const Found& url) {
  sources::LabelerSource source{address(url, kSubscribeLabels, "wss://mod.bsky.app"), {}};
  if (const auto cursor = settings.find(kCursor, flags.cursor)) {
    source.cursor = cursor_choice(*cursor);
  }
  return source;
}

}  // namespace

std::vector<sources::Source> source_choice(const Settings& settings, const SourceFlags& flags) {
  // What the command line names stands before all settings of other kinds.
  const bool is_named =
      !flags.relays.empty() || flags.tap || flags.jetstream || !flags.labelers.empty();
  const auto find = [&](const Setting& setting, const std::optional<std::string>& flag) {
    return is_named && !flag ? std::optional<Found>() : settings.find(setting, flag);
  };
  const auto relay_urls =
      is_named && flags.relays.empty() ? std::vector<Found>() : relays(settings, flags.relays);
  const auto labeler_urls = is_named && flags.labelers.empty()
                                ? std::vector<Found>()
                                : all_of(settings, kLabeler, flags.labelers);
  const auto tap = find(kTap, flags.tap);
  const auto jetstream = find(kJetstream, flags.jetstream);
  const int kinds = int{!relay_urls.empty()} + int{tap.has_value()} + int{jetstream.has_value()};
  if (!is_named && kinds > 1) {
    throw UsageError(
        "settings name a relay, a Tap or a Jetstream beside each other: say which are meant with "
        "--relay, --tap and --jetstream");
  }
  std::vector<sources::Source> sources;
  sources.reserve(relay_urls.size() + labeler_urls.size() + 2);
  for (const Found& url : relay_urls) sources.push_back(relay_source(settings, flags, url));
  if (tap) sources.push_back(tap_address(settings, flags.tap, flags.tap_password_file));
  if (jetstream) sources.push_back(jetstream_source(settings, flags, *jetstream));
  for (const Found& url : labeler_urls) sources.push_back(labeler_source(settings, flags, url));
  if (sources.empty()) settings.require(kRelay, std::nullopt, "wss://HOST");
  check_together(sources, settings, flags);
  return sources;
}

FailOverChoice fail_over_choice(const Settings& settings, const SourceFlags& flags) {
  using std::chrono::milliseconds;
  const auto seconds = [&](const Setting& setting, const std::optional<std::string>& flag,
                           milliseconds otherwise) {
    const auto found = settings.find(setting, flag);
    return found ? milliseconds(std::chrono::seconds(whole_number(*found, 1, 86'400))) : otherwise;
  };
  FailOverChoice choice;
  auto& options = choice.options;
  options.gone_after = seconds(kFailoverAfter, flags.failover_after, options.gone_after);
  options.silent_after = 2 * options.gone_after;
  options.back_after = seconds(kFailbackAfter, flags.failback_after, options.back_after);
  options.probe_interval = std::clamp<milliseconds>(options.back_after / 5, std::chrono::seconds(1),
                                                    options.probe_interval);
  options.urgent_interval = std::clamp<milliseconds>(
      options.gone_after / 6, std::chrono::seconds(1), options.urgent_interval);
  choice.margin = seconds(kFailoverMargin, flags.failover_margin, std::chrono::minutes(2));
  return choice;
}

sources::TapSource tap_address(const Settings& settings, const std::optional<std::string>& flag,
                               const std::optional<std::string>& password_file) {
  const Found url = settings.require(kTap, flag, "ws://localhost:2480");
  sources::TapSource tap{address(url, kChannel, "ws://localhost:2480"), ""};
  if (const auto file = settings.find(kTapPasswordFile, password_file)) {
    tap.password = read_password(*file);
  }
  return tap;
}

std::string source_words(const std::vector<sources::Source>& sources,
                         const std::optional<verify::Level>& level) {
  std::string words;
  std::string standbys;
  for (const sources::Source& source : sources) {
    if (sources::is_relay(source) && !words.empty()) {
      standbys += fmt::format("{}{}", standbys.empty() ? ", standing by: " : ", ",
                              sources::source_url(source));
      continue;
    }
    words += std::exchange(standbys, {});
    if (!words.empty()) words += " and ";
    words += fmt::format("{} ({})", sources::source_url(source), trust_words(source, level));
  }
  return words + standbys;
}

std::string trust_words(const sources::Source& source, const std::optional<verify::Level>& level) {
  if (sources::is_relay(source)) return verify_words(level);
  // What has no operations is verified when its signature is.
  if (sources::is_labeler(source)) {
    return "labels, " + (level ? std::string("verifying signatures") : verify_words(level));
  }
  return "an unverified source: signatures are not in what it sends";
}

}  // namespace skua::cli
