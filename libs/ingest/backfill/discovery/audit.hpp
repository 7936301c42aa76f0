#pragma once

#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "backfill/discovery/discovery.hpp"
#include "backfill/queue/job_table.hpp"
#include "base/time.hpp"
#include "postgres/session.hpp"

namespace skua::backfill {

/// Removes the jobs of repositories that are complete at the revision that a list names for them
/// (NewJob::listed), or at a later one. Keeps the order of the other jobs. Returns the number of
/// removed jobs. Runs in the caller's transaction. Throws postgres::SqlError.
std::size_t leave_out_current(postgres::Session& session, std::vector<NewJob>& jobs);

/// Removes the jobs of accounts whose group the database does not own. Keeps the order of the other
/// jobs. Returns the number of removed jobs. Throws postgres::SqlError.
std::size_t leave_out_foreign(postgres::Session& session, std::vector<NewJob>& jobs);

// An audit compares the revisions that hosts list with the stored revisions, to find accounts whose
// last commits never arrived on the stream. A relay may drop a commit, or keep fewer days than the
// indexer was offline. If an account writes again, the gap becomes visible without an audit. An
// audit finds the accounts that do not write. All functions throw postgres::SqlError.

struct AuditOptions {
  /// The origin of the relay whose list of hosts is read.
  std::string relay;
  /// The time from the beginning of one audit to the beginning of the next.
  std::chrono::seconds every = std::chrono::hours(24);
  /// Whether there are audits while the filter names accounts.
  bool with_filtered_accounts = false;
  /// The names of the relays that this process reads, as in `skua.cursors`.
  std::vector<std::string> sources = {};
  /// The minimum time between two pages, for all hosts together.
  std::chrono::milliseconds page_interval{1'000};
};

/// Starts reading the relay's list of hosts if the last audit started `every` ago. The first audit
/// of a database starts this long after the first call. Each page of accounts must be passed to
/// `desynchronize_behind`.
void begin_audit(postgres::Session& session, const AuditOptions& options, Timestamp now);

/// Makes repositories wait for a resync if they are complete and behind the revision that their
/// host lists. It does the same with repositories of hidden accounts that their host lists as
/// active, because the message that ended their status may be missing. `repos` are the active
/// accounts of the list. Returns the number of these repositories. It skips accounts that live on
/// another host or whose host is unknown, accounts that the filter excludes, and revisions that may
/// still arrive on the stream. These are the revisions later than ten minutes before the newest
/// event of `sources`. Runs in the caller's transaction.
std::size_t desynchronize_behind(postgres::Session& session, const std::string& host,
                                 std::span<const ListedRepo> repos,
                                 std::span<const std::string> sources, Timestamp now);

/// Queues the repositories of these accounts, except repositories that are complete, and accounts
/// that have or had a job. A cancelled job therefore stays cancelled. Excluded accounts are left
/// out. Returns the number of new jobs. Throws SqlError.
std::size_t queue_signal_accounts(postgres::Session& session, std::span<const std::string> dids,
                                  Timestamp now);

}  // namespace skua::backfill
