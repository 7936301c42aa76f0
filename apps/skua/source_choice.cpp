#include "source_choice.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "atproto/syntax.hpp"
#include "base/bytes.hpp"
#include "cursor_choice.hpp"
#include "relay_address.hpp"
#include "sources/jetstream/jetstream_source.hpp"
#include "sources/labeler/labeler_source.hpp"
#include "sources/relay/relay_source.hpp"
#include "sources/tap/tap_source.hpp"
#include "verification.hpp"

namespace skua::cli {
namespace {

constexpr const char* kChannel = "/channel";
constexpr const char* kSubscribe = "/subscribe";

transport::Endpoint address(const Found& found, std::string_view default_path,
                            const char* example) {
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

/// The first line of a file: editors append a newline, which is not part of a password.
std::string read_password(const Found& found) {
  std::string password = read_file(found);
  password.erase(std::min(password.find_first_of("\r\n"), password.size()));
  if (password.empty()) {
    throw UsageError(fmt::format("{}: {} holds no password", found.origin, found.value));
  }
  return password;
}

std::shared_ptr<const sources::Source> jetstream_source(const Settings& settings,
                                                        const SourceFlags& flags,
                                                        const Found& url) {
  std::shared_ptr<const transport::ZstdDictionary> dictionary;
  if (const auto file = settings.find(kZstdDictionary, flags.zstd_dictionary)) {
    try {
      dictionary = std::make_shared<const transport::ZstdDictionary>(as_bytes(read_file(*file)));
    } catch (const std::runtime_error& error) {
      throw UsageError(fmt::format("{}: {}: {}", file->origin, file->value, error.what()));
    }
  }
  return std::make_shared<sources::JetstreamSource>(
      address(url, kSubscribe, "wss://jetstream2.us-east.bsky.network"), std::move(dictionary));
}

/// Checks that no source is named twice, and that a numeric cursor is used with only one source.
void check_together(const std::vector<sources::SourceStart>& starts, const Settings& settings,
                    const SourceFlags& flags) {
  for (auto one = starts.begin(); one != starts.end(); ++one) {
    const std::string name = one->source->name();
    if (std::any_of(starts.begin(), one,
                    [&](const auto& other) { return other.source->name() == name; })) {
      throw UsageError(fmt::format("{} is named twice", name));
    }
  }
  const auto numbered = std::count_if(starts.begin(), starts.end(),
                                      [](const auto& start) { return start.source->has_cursor(); });
  if (flags.cursor && numbered == 0) {
    throw UsageError("--cursor: a Tap has none, it keeps events until they are acknowledged");
  }
  const auto cursor = settings.find(kCursor, flags.cursor);
  if (cursor && numbered > 1 && cursor_choice(*cursor).kind == sources::CursorChoice::Kind::At) {
    throw UsageError(cursor->origin +
                     ": a number belongs to one source, and there are several: use live or oldest");
  }
}

}  // namespace

std::vector<sources::SourceStart> source_choice(const Settings& settings,
                                                const SourceFlags& flags) {
  // The command line overrides all settings of other kinds.
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
        "settings name several of a relay, a Tap and a Jetstream: select sources with --relay, "
        "--tap "
        "and --jetstream");
  }
  std::vector<std::shared_ptr<const sources::Source>> named;
  named.reserve(relay_urls.size() + labeler_urls.size() + 2);
  for (const Found& url : relay_urls) {
    named.push_back(std::make_shared<sources::RelaySource>(relay_address(url)));
  }
  if (tap) {
    TapAddress found = tap_address(settings, flags.tap, flags.tap_password_file);
    named.push_back(
        std::make_shared<sources::TapSource>(std::move(found.endpoint), std::move(found.password)));
  }
  if (jetstream) named.push_back(jetstream_source(settings, flags, *jetstream));
  for (const Found& url : labeler_urls) {
    named.push_back(std::make_shared<sources::LabelerSource>(
        address(url, sources::kSubscribeLabelsPath, "wss://mod.bsky.app")));
  }
  if (named.empty()) settings.require(kRelay, std::nullopt, "wss://HOST");

  const auto cursor = settings.find(kCursor, flags.cursor);
  std::vector<sources::SourceStart> starts;
  starts.reserve(named.size());
  for (auto& source : named) {
    const bool is_chosen = cursor && source->has_cursor();
    starts.push_back(
        {std::move(source), is_chosen ? cursor_choice(*cursor) : sources::CursorChoice{}});
  }
  check_together(starts, settings, flags);
  return starts;
}

std::optional<sources::LabelerLimits> discovery_choice(const Settings& settings,
                                                       const SourceFlags& flags) {
  // More would need too many threads.
  constexpr std::int64_t kMostLabelers = 1'000;
  const Found most =
      settings.find_or_default(kMaxDiscoveredLabelers, flags.max_discovered_labelers);
  sources::LabelerLimits limits;
  limits.labelers = static_cast<std::size_t>(whole_number(most, 1, kMostLabelers));
  if (!flags.discover_labelers && !yes(settings.find(kDiscoverLabelers, std::nullopt))) {
    return std::nullopt;
  }
  return limits;
}

std::vector<std::string> signal_choice(const Settings& settings, const SourceFlags& flags) {
  // Each is searched for in the messages of accounts that the filter excludes.
  constexpr std::size_t kMost = 10;
  std::vector<std::string> collections;
  for (const Found& found : all_of(settings, kSignalCollection, flags.signal_collections)) {
    if (!atproto::is_nsid(found.value)) {
      throw UsageError(
          fmt::format("{}: '{}' is not a collection; an example is "
                      "app.bsky.feed.generator",
                      found.origin, found.value));
    }
    if (collections.size() == kMost) {
      throw UsageError(fmt::format("{}: at most {} collections", found.origin, kMost));
    }
    collections.push_back(found.value);
  }
  return collections;
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

TapAddress tap_address(const Settings& settings, const std::optional<std::string>& flag,
                       const std::optional<std::string>& password_file) {
  const Found url = settings.require(kTap, flag, "ws://localhost:2480");
  TapAddress tap{address(url, kChannel, "ws://localhost:2480"), ""};
  if (const auto file = settings.find(kTapPasswordFile, password_file)) {
    tap.password = read_password(*file);
  }
  return tap;
}

std::string sources_text(const std::vector<sources::SourceStart>& sources,
                         const std::optional<verify::Level>& level) {
  std::string text;
  std::string standbys;
  for (const auto& [source, cursor] : sources) {
    if (source->has_standbys() && !text.empty()) {
      standbys += fmt::format("{}{}", standbys.empty() ? ", standing by: " : ", ", source->url());
      continue;
    }
    text += std::exchange(standbys, {});
    if (!text.empty()) text += " and ";
    text += fmt::format("{} ({})", source->url(), trust_text(*source, level));
  }
  return text + standbys;
}

std::string trust_text(const sources::Source& source, const std::optional<verify::Level>& level) {
  switch (source.proof()) {
    case sources::Proof::Commits:
      return verify_text(level);
    case sources::Proof::Labels:
      // A label has no operations, so verification means checking its signature.
      return "labels, " + (level ? std::string("verifying signatures") : verify_text(level));
    case sources::Proof::None:
      break;
  }
  return "an unverified source: its messages have no signatures";
}

}  // namespace skua::cli
