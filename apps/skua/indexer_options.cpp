#include "indexer_options.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "accounts.hpp"
#include "addresses.hpp"
#include "backfill/discovery/audit.hpp"
#include "backfill_request.hpp"
#include "database.hpp"
#include "settings.hpp"
#include "source_choice.hpp"
#include "sources/relay/fail_over.hpp"

namespace skua::cli {
namespace {

/// When another relay takes over, and when the first one is used again.
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
  // Each is searched for in the messages of accounts that the filter excludes.
  constexpr std::size_t kMost = 10;
  Texts collections = invocation[kSignalCollection];
  if (collections.size() > kMost) {
    throw UsageError(fmt::format("{}: at most {} collections",
                                 invocation.find(kSignalCollection)->origin, kMost));
  }
  return collections;
}

/// How `skua run` audits the hosts of its first relay; nothing: no audits. The default is every day
/// if relays are read and verified and the filter names no accounts. Throws UsageError if revisions
/// are not tracked.
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
