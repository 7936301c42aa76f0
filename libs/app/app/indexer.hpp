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
  /// Relays stand by for each other, in the order of preference. All other sources are read at the
  /// same time.
  std::vector<sources::SourceStart> sources;
  /// The repositories of accounts with a new record of these collections are queued.
  std::vector<std::string> signal_collections;
  /// Also subscribes to the labelers that the database knows, within these limits; nothing: only to
  /// those among `sources`.
  std::optional<sources::LabelerLimits> discover_labelers;
  /// A PEM file of certificates that are trusted besides the system's; empty: none.
  std::string ca_file;
  /// How commits are verified; nothing: they are not, for trusted relays only. The messages of a
  /// Tap or Jetstream cannot be verified: there it concerns backfills only.
  std::optional<verify::Level> verify = verify::Level::Full;
  accounts::NetworkAccountsOptions accounts;
  tables::Resync resync = tables::Resync::Complete;
  /// The DNS server that handles are looked up at; nothing: the most recent
  /// claim counts without verification.
  std::optional<documents::DnsServer> check_handles;
  /// Keeps the stored identities current with the PLC directory of `accounts`.
  bool plc_tail = false;
  /// How queued repositories are downloaded beside the stream, and with verification desynchronized
  /// ones; nothing: they are not. Its `verify` follows from `verify`.
  std::optional<BackfillOptions> backfill = BackfillOptions();
  /// Replaces the stored filter; nothing: the stored filter stays.
  std::optional<filter::FilterChoice> filter;
  /// For several relays.
  sources::FailOver::Options fail_over;
  /// The maximum propagation skew between relays (StandbyPositions).
  std::chrono::milliseconds fail_over_margin = std::chrono::minutes(2);
  std::size_t decode_threads = 2;
  /// Threads that apply changes to projections. 0: another process does.
  std::size_t consumer_threads = 2;
  pipeline::InFlightList::Limits in_flight;
  std::chrono::milliseconds cursor_interval{10'000};
  std::chrono::milliseconds read_timeout{60'000};
  /// How long `stop` waits until the events in flight are durable.
  std::chrono::milliseconds drain_timeout{15'000};
};

/// `skua run`: its sources into one database. The composition root: it makes the parts, starts them
/// in order and stops them in the reverse order (PartList). Owned and called by one thread; the
/// const functions by any.
class Indexer {
 public:
  /// Connects to the database and takes the sources. Throws postgres::SourceBusy when another
  /// process has one, postgres::SqlError, or std::runtime_error with a message for the user (no
  /// schema, lock table too small, a bootstrap that is not over).
  Indexer(IndexerOptions options, const Clock& clock);
  ~Indexer();

  void start();
  /// Jobs or lists were added: looks at the queue now.
  void notify_backfill();

  /// Stops the intake, drains, ends the threads, saves the cursor. False: events are unfinished,
  /// and the next start reads them again. Takes at most `drain_timeout`, and some seconds more when
  /// the database does not answer.
  bool stop();

  /// How the database differs from the one that this began with (postgres::DatabaseWatch); nothing:
  /// it does not. After a change the state in memory is wrong: `drop` this, and make another one
  /// with `resumed_sources`.
  std::optional<std::string> database_change() const;
  /// Instead of `stop`: ends without the database, and saves nothing.
  void drop();
  /// The sources for the next Indexer: each continues at its stored cursor, or where this one
  /// began. After `drop`.
  std::vector<sources::SourceStart> resumed_sources() const;

  /// Returns the jobs and lists of a dropped Indexer of this process to the queue. Before `start`.
  /// Throws postgres::SqlError.
  static void release_backfill(postgres::Session& session, const Clock& clock);

  /// One of each source, in their order.
  std::vector<pipeline::Metrics> metrics() const;
  /// The progress of backfills; nothing: none is active or queued.
  std::optional<status::BackfillSnapshot> backfill() const;
  /// What `/health/ready` judges.
  pages::ProcessState process_state() const;
  /// The error after which the process must stop; nothing: there is none.
  std::optional<std::string> fatal_error() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// The options of the parts of an Indexer that follow from its own options alone. Pure.

/// Sources that stand by for each other are one group; all others are on their own.
std::vector<std::vector<sources::SourceStart>> source_groups(
    const std::vector<sources::SourceStart>& starts);

/// Of one group.
sources::SourceRunOptions source_run_options(const IndexerOptions& options,
                                             std::vector<sources::SourceStart> group);

/// `check_handles` has a value.
accounts::HandleLookups::Options handle_options(const IndexerOptions& options);

accounts::PlcTail::Options plc_tail_options(const IndexerOptions& options);

/// `discover_labelers` has a value.
sources::DiscoveredLabelers::Options labeler_options(const IndexerOptions& options);

}  // namespace skua::app
