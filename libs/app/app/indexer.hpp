#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "accounts/handle_verifier.hpp"
#include "accounts/network_accounts.hpp"
#include "accounts/plc_tail.hpp"
#include "app/backfill_run.hpp"
#include "app/database.hpp"
#include "atproto/account_group.hpp"
#include "base/time.hpp"
#include "documents/handle_check.hpp"
#include "filter/filter_watch.hpp"
#include "pages/process_status.hpp"
#include "pipeline/in_flight.hpp"
#include "pipeline/metrics.hpp"
#include "postgres/session.hpp"
#include "sources/labeler/discovery/discovered_labelers.hpp"
#include "sources/labeler/discovery/labeler_choice.hpp"
#include "sources/relay/fail_over.hpp"
#include "sources/source.hpp"
#include "sources/source_run.hpp"
#include "status/backfill_text.hpp"
#include "tables/repository_table.hpp"
#include "verify/commit_verifier.hpp"

namespace skua::app {

struct IndexerOptions {
  std::string database_url;
  Durability durability = Durability::Needed;
  /// The sources to read. Relays stand by for each other, in the order of preference. All other
  /// sources are read at the same time.
  std::vector<sources::SourceStart> sources;
  /// Signal collections: if an account has a new record of one of them, its repository is queued.
  std::vector<std::string> signal_collections;
  /// The limits for subscriptions to the labelers that the database knows. If it is nothing, only
  /// the labelers among `sources` are read.
  std::optional<sources::LabelerLimits> discover_labelers;
  /// A PEM file of certificates that are trusted in addition to those of the system; empty if there
  /// is none.
  std::string ca_file;
  /// The level of the verification of commits. Without a value commits are not verified, which is
  /// for trusted relays only. The messages of a Tap or Jetstream cannot be verified, so for these
  /// the level concerns backfills only.
  std::optional<verify::Level> verify = verify::Level::Full;
  accounts::NetworkAccountsOptions accounts;
  tables::Resync resync = tables::Resync::Complete;
  /// The DNS server for looking up handles. If it is nothing, the most recent claim counts without
  /// verification.
  std::optional<documents::DnsServer> check_handles;
  /// True if the stored identities follow the PLC directory of `accounts`.
  bool plc_tail = false;
  /// The options for downloading queued repositories beside the stream and, with verification,
  /// desynchronized repositories. If it is nothing, no repository is downloaded. The `verify`
  /// member is set from `verify` above.
  std::optional<BackfillOptions> backfill = BackfillOptions();
  /// The groups of accounts that the user states; nothing if the stored ones hold.
  std::optional<atproto::GroupSet> groups;
  /// The filter that replaces the stored filter. If it is nothing, the stored filter stays.
  std::optional<filter::FilterChoice> filter;
  /// The options of a failover between several relays.
  sources::FailOver::Options fail_over;
  /// The maximum propagation skew between relays (StandbyPositions).
  std::chrono::milliseconds fail_over_margin = std::chrono::minutes(2);
  std::size_t decode_threads = 2;
  /// The number of threads that apply changes to projections. With 0, another process applies them.
  std::size_t consumer_threads = 2;
  pipeline::InFlightList::Limits in_flight;
  std::chrono::milliseconds cursor_interval{10'000};
  std::chrono::milliseconds read_timeout{60'000};
  /// `stop` waits at most this long for the events in flight to become durable.
  std::chrono::milliseconds drain_timeout{15'000};
};

/// `skua run`: reads sources into one database. The composition root: it creates the parts, starts
/// them in order and stops them in the reverse order (PartList). One thread owns it and calls its
/// functions; any thread may call the const functions.
class Indexer {
 public:
  /// Connects to the database and takes the sources. Throws postgres::SourceBusy if another process
  /// has one of the sources, or postgres::SqlError. Throws std::runtime_error with a message for
  /// the user if the database has no schema, its lock table is too small, a bootstrap has not
  /// ended, or the database owns other groups than the stated ones.
  Indexer(IndexerOptions options, const Clock& clock);
  ~Indexer();

  void start();
  /// Starts work on jobs or lists that were just added.
  void notify_backfill();

  /// Stops the intake, drains, ends the threads, and saves the cursors. Returns false if events are
  /// unfinished; the next start reads them again. Takes at most `drain_timeout`, and some seconds
  /// more if the database does not answer.
  bool stop();

  /// Returns how the database differs from the one that this indexer started with
  /// (postgres::DatabaseWatch); nothing if it is the same. After such a change the state in memory
  /// is wrong: the caller must `drop` this indexer and create another one with `resumed_sources`.
  std::optional<std::string> database_change() const;
  /// Ends without the database and without saving; replaces `stop`.
  void drop();
  /// Returns the sources for the next Indexer. Each continues at its stored cursor or, without a
  /// cursor, where this indexer began. To be called after `drop`.
  std::vector<sources::SourceStart> resumed_sources() const;

  /// Returns the jobs and lists of a dropped Indexer of this process to the queue. To be called
  /// before `start`. Throws postgres::SqlError.
  static void release_backfill(postgres::Session& session, const Clock& clock);

  /// Returns the metrics of each source, in the order of the sources.
  std::vector<pipeline::Metrics> metrics() const;
  /// Returns the progress of backfills; nothing if no backfill is active or queued.
  std::optional<status::BackfillSnapshot> backfill() const;
  /// Returns the state from which `/health/ready` follows.
  pages::ProcessState process_state() const;
  /// Returns the error after which the process must stop; nothing if there is none.
  std::optional<std::string> fatal_error() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// The following functions derive the options of the parts of an Indexer from its own options alone.
// Pure.

/// Groups the sources: sources that stand by for each other form one group, and every other source
/// is its own group.
std::vector<std::vector<sources::SourceStart>> source_groups(
    const std::vector<sources::SourceStart>& starts);

/// Returns the options for one group of sources.
sources::SourceRunOptions source_run_options(const IndexerOptions& options,
                                             std::vector<sources::SourceStart> group);

/// Requires that `check_handles` has a value.
accounts::HandleLookups::Options handle_options(const IndexerOptions& options);

accounts::PlcTail::Options plc_tail_options(const IndexerOptions& options);

/// Requires that `discover_labelers` has a value.
sources::DiscoveredLabelers::Options labeler_options(const IndexerOptions& options);

}  // namespace skua::app
