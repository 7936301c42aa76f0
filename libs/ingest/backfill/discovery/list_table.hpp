#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "backfill/discovery/host_table.hpp"
#include "backfill/queue/job_commands.hpp"
#include "backfill/queue/job_table.hpp"
#include "base/time.hpp"
#include "postgres/session.hpp"

namespace skua::backfill {

/// Leases of lists, and how far they were read (see host_table.hpp).

/// A leased list.
struct LeasedList {
  HostList list;
  /// The cursor of its next page; nothing: the first page.
  std::optional<std::string> cursor;
  /// The number of entries on the pages so far.
  std::int64_t listed = 0;
  /// When reading it was last started from the first page.
  Timestamp begun_at{};
};

/// Leases up to `limit` lists with a page that is due, those that have waited longest first. The
/// lease ends at its time limit; each saved page extends it.
std::vector<LeasedList> lease_lists(postgres::Session& session, std::size_t limit,
                                    const JobLeaseRequest& request,
                                    ListPurpose purpose = ListPurpose::Backfill);

/// Saves that a page was read: its number of entries, and the cursor of the next page; nothing: it
/// was the last. Call it in one transaction with the results of its entries (`add_jobs`,
/// `add_lists`). False: another process leases the list by now and reads this page too; nothing was
/// saved.
bool save_page(postgres::Session& session, const HostList& list,
               const std::optional<std::string>& next_cursor, std::int64_t entries,
               const JobLeaseRequest& request);

/// A page could not be read: it is due again after `job_delay` and the wait that the host asked
/// for. After `max_attempts` failures in a row the list fails permanently. Any process may continue
/// with it. False: it failed permanently.
bool list_failed(postgres::Session& session, const HostList& list, const std::string& reason,
                 std::chrono::seconds asked, const std::string& lease_owner, Timestamp now,
                 int max_attempts = kMaxAttempts);

/// The host asked to wait (429), which is not a failure.
void list_postponed(postgres::Session& session, const HostList& list, const std::string& reason,
                    std::chrono::seconds asked, const std::string& lease_owner, Timestamp now);

/// For a clean stop: releases the leases of this owner at once. Returns their number.
std::size_t release_lists(postgres::Session& session, const std::string& lease_owner,
                          Timestamp now);

/// The same for lists whose lease owner has no session on this database.
std::size_t reclaim_orphan_lists(postgres::Session& session, Timestamp now);

/// When the next page of any list is or was due; for a leased list: when its lease expires.
/// Nothing: all lists were read or have failed permanently.
std::optional<Timestamp> next_page_due(postgres::Session& session,
                                       ListPurpose purpose = ListPurpose::Backfill);

// The effect of `skua backfill retry` and `cancel` on lists of backfills (host_table.hpp). A list
// has the state of a job: queued while no page of it is being read, running while one is, done
// after its end was read, failed or cancelled. A filter that names accounts selects no list. Both
// throw postgres::SqlError.

/// Queues lists again, due now, from the page that was not read; returns their number. Without
/// states: lists that wait after a failure, and lists that have failed permanently.
std::size_t retry_lists(postgres::Session& session, const JobFilter& filter, Timestamp now);

/// Cancels lists; returns their number. Without states: queued and running lists. A process that is
/// reading a page of a cancelled list discards it. Repositories that were queued by earlier pages
/// stay.
std::size_t cancel_lists(postgres::Session& session, const JobFilter& filter, Timestamp now);

/// The number of lists by state, and the failed ones (see host_table.hpp).

/// As in `skua.backfill_hosts.state`. A list that waits for its next attempt is None here.
enum class ListState : std::uint8_t { None, Listing, Listed, Failed, Cancelled };

/// The lists of one kind (`HostList::what`) by state, and their entries so far.
struct ListCounts {
  std::map<ListState, std::int64_t> lists;
  std::int64_t listed = 0;
};

std::map<std::string, ListCounts> list_counts(postgres::Session& session,
                                              ListPurpose purpose = ListPurpose::Backfill);

/// A list whose last page could not be read, and the reason, for people.
struct ListError {
  HostList list;
  ListState state = ListState::Listing;
  std::string reason;
  /// The time of the next attempt, while it waits.
  Timestamp next_attempt;
};

/// Lists that wait after a failure or have failed permanently; the most recent
/// failures first.
std::vector<ListError> list_errors(postgres::Session& session, std::size_t limit,
                                   ListPurpose purpose = ListPurpose::Backfill);

/// The number of lists of backfills that have failed permanently since then.
std::int64_t lists_abandoned_since(postgres::Session& session, Timestamp since);

}  // namespace skua::backfill
