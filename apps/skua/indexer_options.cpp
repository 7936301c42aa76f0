#include "indexer_options.hpp"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "accounts.hpp"
#include "addresses.hpp"
#include "backfill/discovery/audit.hpp"
#include "backfill_request.hpp"
#include "base/bytes.hpp"
#include "database.hpp"
#include "settings.hpp"
#include "sources/jetstream/jetstream_source.hpp"
#include "sources/labeler/labeler_source.hpp"
#include "sources/relay/fail_over.hpp"
#include "sources/relay/relay_source.hpp"
#include "sources/tap/tap_source.hpp"

namespace skua::cli {

namespace {

constexpr const char* kChannel = "/channel";
constexpr const char* kSubscribe = "/subscribe";

std::string read_file(const SettingValue& found) {
  std::ifstream in(found.value, std::ios::binary);
  std::string content{std::istreambuf_iterator<char>(in), {}};
  if (!in.good() && !in.eof()) {
    throw UsageError(fmt::format("{}: {} cannot be read", found.origin, found.value));
  }
  return content;
}

/// Returns the first line of a file. Editors append a newline, which is not part of a password.
std::string read_password(const SettingValue& found) {
  std::string password = read_file(found);
  password.erase(std::min(password.find_first_of("\r\n"), password.size()));
  if (password.empty()) {
    throw UsageError(fmt::format("{}: {} holds no password", found.origin, found.value));
  }
  return password;
}

std::shared_ptr<const sources::Source> relay_source(const Invocation& /*invocation*/,
                                                    const SettingValue& url) {
  return std::make_shared<sources::RelaySource>(relay_address(url));
}

std::shared_ptr<const sources::Source> tap_source(const Invocation& invocation,
                                                  const SettingValue& /*url*/) {
  TapAddress found = tap_address(invocation);
  return std::make_shared<sources::TapSource>(std::move(found.endpoint), std::move(found.password));
}

std::shared_ptr<const sources::Source> jetstream_source(const Invocation& invocation,
                                                        const SettingValue& url) {
  std::shared_ptr<const transport::ZstdDictionary> dictionary;
  if (const auto file = invocation[kZstdDictionary]) {
    try {
      dictionary = std::make_shared<const transport::ZstdDictionary>(as_bytes(read_file(*file)));
    } catch (const std::runtime_error& error) {
      throw UsageError(fmt::format("{}: {}: {}", file->origin, file->value, error.what()));
    }
  }
  return std::make_shared<sources::JetstreamSource>(
      stream_address(url, kSubscribe, "wss://jetstream2.us-east.bsky.network"),
      std::move(dictionary));
}

std::shared_ptr<const sources::Source> labeler_source(const Invocation& /*invocation*/,
                                                      const SettingValue& url) {
  return std::make_shared<sources::LabelerSource>(
      stream_address(url, sources::kSubscribeLabelsPath, "wss://mod.bsky.app"));
}

/// Returns the addresses of a kind of source.
std::vector<SettingValue> addresses_of(const Invocation& invocation, const SourceKind& kind) {
  if (kind.setting->form == OptionText::Form::List) return invocation.find_all(*kind.setting);
  const auto found = invocation.find(*kind.setting);
  return found ? std::vector{*found} : std::vector<SettingValue>();
}

/// Checks that no source is named twice, and that a numeric cursor is used with only one source.
void check_together(const std::vector<sources::SourceStart>& starts, const Invocation& invocation) {
  for (auto one = starts.begin(); one != starts.end(); ++one) {
    const std::string name = one->source->name();
    if (std::any_of(starts.begin(), one,
                    [&](const auto& other) { return other.source->name() == name; })) {
      throw UsageError(fmt::format("{} is named twice", name));
    }
  }
  const auto numbered = std::count_if(starts.begin(), starts.end(),
                                      [](const auto& start) { return start.source->has_cursor(); });
  if (invocation.is_given(kCursor) && numbered == 0) {
    throw UsageError("--cursor: a Tap has none, it keeps events until they are acknowledged");
  }
  const auto cursor = invocation[kCursor];
  if (cursor && numbered > 1 && cursor->kind == sources::CursorChoice::Kind::At) {
    throw UsageError(invocation.find(kCursor)->origin +
                     ": a number belongs to one source, and there are several: use live or oldest");
  }
}

/// Reads when another relay takes over, and when the first one is used again.
sources::FailOver::Options fail_over_options(const Invocation& invocation) {
  using std::chrono::milliseconds;
  sources::FailOver::Options options;
  options.gone_after = invocation[kFailoverAfter];
  options.silent_after = 2 * options.gone_after;
  options.back_after = invocation[kFailbackAfter];
  options.probe_interval = std::clamp<milliseconds>(options.back_after / 5, std::chrono::seconds(1),
                                                    options.probe_interval);
  options.urgent_interval = std::clamp<milliseconds>(
      options.gone_after / 6, std::chrono::seconds(1), options.urgent_interval);
  return options;
}

std::vector<std::string> signal_collections(const Invocation& invocation) {
  // The number is limited, because each signal collection is searched for in the messages of
  // accounts that the filter excludes.
  constexpr std::size_t kMost = 10;
  Texts collections = invocation[kSignalCollection];
  if (collections.size() > kMost) {
    throw UsageError(fmt::format("{}: at most {} collections",
                                 invocation.find(kSignalCollection)->origin, kMost));
  }
  return collections;
}

/// Reads how `skua run` audits the hosts of its first relay; nothing if there are no audits. The
/// default is every day if relays are read and verified and the filter names no accounts. Throws
/// UsageError if revisions are not tracked.
std::optional<backfill::AuditOptions> audit_options(
    const Invocation& invocation, const std::vector<sources::SourceStart>& sources,
    const std::optional<verify::Level>& verify) {
  const auto every = invocation[kAuditEvery];
  if (every && every->count() == 0) return std::nullopt;
  backfill::AuditOptions audit;
  if (every) {
    audit.every = *every;
    audit.with_filtered_accounts = true;
  }
  for (const sources::SourceStart& start : sources) {
    if (start.source->proof() != sources::Proof::Commits) continue;
    audit.sources.push_back(start.source->name());
    if (audit.relay.empty()) audit.relay = http_origin(start.source->endpoint());
  }
  if (!audit.relay.empty() && verify) return audit;
  if (every) {
    throw UsageError(fmt::format(
        "{}: only repositories that a relay brings and that are verified can be audited",
        invocation.find(kAuditEvery)->origin));
  }
  return std::nullopt;
}

}  // namespace

const std::vector<SourceKind>& source_kinds() {
  static const std::vector<SourceKind> kinds = {
      {&kRelay, true, relay_source},
      {&kTap, true, tap_source},
      {&kJetstream, true, jetstream_source},
      {&kLabeler, false, labeler_source},
  };
  return kinds;
}

bool names_sources(const Invocation& invocation) {
  return std::ranges::any_of(
      source_kinds(), [&](const SourceKind& kind) { return invocation.is_given(*kind.setting); });
}

bool has_sources(const Invocation& invocation) {
  return std::ranges::any_of(source_kinds(),
                             [&](const SourceKind& kind) { return invocation.has(*kind.setting); });
}

std::vector<sources::SourceStart> source_choice(const Invocation& invocation) {
  const bool is_named = names_sources(invocation);
  std::vector<std::shared_ptr<const sources::Source>> named;
  std::vector<std::string_view> exclusive;
  for (const SourceKind& kind : source_kinds()) {
    if (is_named && !invocation.is_given(*kind.setting)) continue;
    const auto addresses = addresses_of(invocation, kind);
    if (kind.is_exclusive && !addresses.empty()) exclusive.push_back(kind.setting->name);
    for (const SettingValue& address : addresses) named.push_back(kind.make(invocation, address));
  }
  if (!is_named && exclusive.size() > 1) {
    throw UsageError(
        fmt::format("settings name several kinds of sources: select sources with the flags {}",
                    fmt::join(exclusive, ", ")));
  }
  if (named.empty()) invocation.require(kRelay, "wss://HOST");

  const auto cursor = invocation[kCursor];
  std::vector<sources::SourceStart> starts;
  starts.reserve(named.size());
  for (auto& source : named) {
    const bool is_chosen = cursor && source->has_cursor();
    starts.push_back({std::move(source), is_chosen ? *cursor : sources::CursorChoice{}});
  }
  check_together(starts, invocation);
  return starts;
}

TapAddress tap_address(const Invocation& invocation) {
  const SettingValue url = invocation.require(kTap, "ws://localhost:2480");
  TapAddress tap{stream_address(url, kChannel, "ws://localhost:2480"), ""};
  if (const auto file = invocation[kTapPasswordFile]) {
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

app::IndexerOptions indexer_options(const Invocation& invocation) {
  app::IndexerOptions options;
  options.sources = source_choice(invocation);
  const std::size_t most_labelers = invocation[kMaxDiscoveredLabelers];
  if (invocation[kDiscoverLabelers]) options.discover_labelers.emplace().labelers = most_labelers;
  options.signal_collections = signal_collections(invocation);
  options.fail_over = fail_over_options(invocation);
  options.fail_over_margin = invocation[kFailoverMargin];
  options.database_url = require_database(invocation);
  options.durability = durability(invocation);
  options.groups = invocation[kGroups];
  options.verify = invocation[kVerify];
  options.resync = invocation[kResync];
  options.accounts = network_accounts(invocation);
  options.accounts.database_url = options.database_url;
  options.plc_tail = invocation[kPlcTail];
  options.check_handles = handle_checks(invocation);
  options.ca_file = options.accounts.ca_file;
  options.backfill = backfill_options(invocation);
  options.backfill->audit = audit_options(invocation, options.sources, options.verify);
  const bool is_verified =
      options.verify && options.sources.front().source->proof() == sources::Proof::Commits;
  options.decode_threads = decode_threads(invocation, is_verified);
  options.consumer_threads = invocation[kConsumerThreads];
  return options;
}

}  // namespace skua::cli
