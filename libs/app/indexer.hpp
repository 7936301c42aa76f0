#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "accounts/account_source.hpp"
#include "app/backfill_run.hpp"
#include "app/database.hpp"
#include "base/time.hpp"
#include "filter/filter_watch.hpp"
#include "identity/txt_lookup.hpp"
#include "sources/relay/fail_over.hpp"
#include "sources/source.hpp"
#include "status/backfill_text.hpp"
#include "status/metrics.hpp"
#include "store/repository_table.hpp"
#include "store/session.hpp"
#include "verify/commit_verifier.hpp"
#include "writer/in_flight.hpp"

namespace skua::app {

struct IndexerOptions {
  std::string database_url;
  Durability durability = Durability::Needed;
  /// Relays stand by for each other, in the order of preference; everything else is read at once.
  std::vector<sources::SourceStart> sources;
  /// PEM file of certificates to trust besides the system's; empty: none.
  std::string ca_file;
  /// How commits are verified; nothing: not at all, which is for relays of one's own. What Tap and
  /// Jetstream send cannot be: there it is about backfill alone.
  std::optional<verify::Level> verify = verify::Level::Full;
  accounts::NetworkAccountsOptions accounts;
  store::Resync resync = store::Resync::Complete;
  /// The DNS server that handles are looked up at; nothing: the most recent
  /// claim counts without verification.
  std::optional<identity::DnsServer> check_handles;
  /// Queued repositories, and with verification those that must be resynchronized, are brought in
  /// beside the stream; nothing: they are not. Its `verify` follows from the above.
  std::optional<BackfillOptions> backfill = BackfillOptions();
  /// What the stored filter is to be; nothing: it holds as it is.
  std::optional<filter::FilterChoice> filter;
  /// Of several relays.
  sources::FailOver::Options fail_over;
  /// The most that a relay may have a thing later than another (StandbyPositions).
  std::chrono::milliseconds fail_over_margin = std::chrono::minutes(2);
  std::size_t decode_threads = 2;
  writer::InFlightList::Limits in_flight;
  std::chrono::milliseconds cursor_interval{10'000};
  std::chrono::milliseconds read_timeout{60'000};
  /// How long `stop` waits for the database to take what is in flight.
  std::chrono::milliseconds drain_timeout{15'000};
};

/// `skua run`: its sources into one database. The composition root: it makes the parts, starts them
/// in order and stops them in the reverse: intake, drain, workers, cursor; what it fetches of
/// backfill beside them. Owned and called by one
/// thread; the const functions by any.
class Indexer {
 public:
  /// Connects to the database and takes the sources. Throws store::SourceBusy when another process
  /// has one, store::SqlError, or std::runtime_error in words for the user (no schema, lock table
  /// too small, a bootstrap that is not over).
  Indexer(IndexerOptions options, const Clock& clock);
  ~Indexer();

  void start();
  /// Jobs or lists of backfill were added.
  void notify_backfill();

  /// Stops intake, drains, joins, saves. False: something was left unfinished, which the next start
  /// reads again. Takes `drain_timeout` at most, and some seconds when the database does not
  /// answer.
  bool stop();

  /// In what way the database has become another one since this began (store::DatabaseWatch);
  /// nothing while it has not. What is remembered of it is wrong then: `drop` this, and make
  /// another one of `resumed_sources`.
  std::optional<std::string> database_change() const;
  /// Instead of `stop`: ends without a look at the database, and saves nothing.
  void drop();
  /// The sources for the next one: each goes on at its stored cursor, or where this one began.
  /// After `drop`.
  std::vector<sources::SourceStart> resumed_sources() const;

  /// Queues again what an indexer of this process that was dropped had in hand. Before `start`.
  /// Throws store::SqlError.
  static void release_backfill(store::Session& session, const Clock& clock);

  /// One of each source, in their order.
  std::vector<status::Metrics> metrics() const;
  /// Of backfill; nothing while none is under way or queued.
  std::optional<status::BackfillSnapshot> backfill() const;
  /// Why the process must stop; nothing while all is well.
  std::optional<std::string> defect() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace skua::app
