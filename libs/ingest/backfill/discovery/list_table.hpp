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

/// These functions lease lists, and save how far each list was read (see host_table.hpp).

/// A leased list.
struct LeasedList {
  HostList list;
  /// The cursor of the next page, or nothing for the first page.
  std::optional<std::string> cursor;
  /// The number of entries on the pages so far.
  std::int64_t listed = 0;
  /// The time at which the list was last started from the first page.
  Timestamp begun_at{};
};

/// Leases up to `limit` lists with a page that is due. The lists that have waited longest come
/// first. The lease ends at its time limit. Each saved page extends it.
std::vector<LeasedList> lease_lists(postgres::Session& session, std::size_t limit,
                                    const JobLeaseRequest& request,
                                    ListPurpose purpose = ListPurpose::Backfill);

/// Saves that a page was read: its number of entries, and the cursor of the next page, or nothing
/// if it was the last page. Call it in one transaction with the results of its entries (`add_jobs`,
/// `add_lists`). Returns false and saves nothing if another process now leases the list. That
/// process reads this page, too.
bool save_page(postgres::Session& session, const HostList& list,
               const std::optional<std::string>& next_cursor, std::int64_t entries,
               const JobLeaseRequest& request);

/// Reports that a page could not be read. It is due again after `job_delay` and the wait that the
/// host asked for. Any process may continue with it. After `max_attempts` failures in a row the
/// list fails permanently, and the function returns false.
bool list_failed(postgres::Session& session, const HostList& list, const std::string& reason,
                 std::chrono::seconds asked, const std::string& lease_owner, Timestamp now,
                 int max_attempts = kMaxAttempts);

/// Makes a list wait because its host asked to wait (429), which is not a failure.
void list_postponed(postgres::Session& session, const HostList& list, const std::string& reason,
                    std::chrono::seconds asked, const std::string& lease_owner, Timestamp now);

/// Releases the leases of this owner at once, for a clean stop. Returns their number.
std::size_t release_lists(postgres::Session& session, const std::string& lease_owner,
                          Timestamp now);

/// Releases the leases of owners that have no session on this database. Returns their number.
std::size_t reclaim_orphan_lists(postgres::Session& session, Timestamp now);

/// Returns the time at which the next page of any list is or was due. A leased list is due when its
/// lease expires. Returns nothing if all lists were read or have failed permanently.
std::optional<Timestamp> next_page_due(postgres::Session& session,
                                       ListPurpose purpose = ListPurpose::Backfill);

// The following two functions are the effect of `skua backfill retry` and `cancel` on lists of
// backfills (host_table.hpp). A list has the state of a job. It is queued while no page of it is
// being read, running while a page is being read, and done after its end was read. It can also be
// failed or cancelled. A filter that names accounts selects no list. Both functions throw
// postgres::SqlError.

/// Queues lists again, due now, from the page that was not read. Returns their number. If the
/// filter has no states, it queues lists that wait after a failure, and lists that have failed
/// permanently.
std::size_t retry_lists(postgres::Session& session, const JobFilter& filter, Timestamp now);

/// Cancels lists. Returns their number. If the filter has no states, it cancels queued and running
/// lists. A process that is reading a page of a cancelled list discards the page. Repositories that
/// were queued by earlier pages stay.
std::size_t cancel_lists(postgres::Session& session, const JobFilter& filter, Timestamp now);

/// The values of `skua.backfill_hosts.state`. A list that waits for its next attempt is None here.
enum class ListState : std::uint8_t { None, Listing, Listed, Failed, Cancelled };

/// The numbers of lists of one kind (`HostList::what`) by state, and of their entries so far.
struct ListCounts {
  std::map<ListState, std::int64_t> lists;
  std::int64_t listed = 0;
};

std::map<std::string, ListCounts> list_counts(postgres::Session& session,
                                              ListPurpose purpose = ListPurpose::Backfill);

/// A list whose last page could not be read, and the reason for users.
struct ListError {
  HostList list;
  ListState state = ListState::Listing;
  std::string reason;
  /// The time of the next attempt, while the list waits.
  Timestamp next_attempt;
};

/// Returns lists that wait after a failure or have failed permanently. The most recent failures
/// come first.
std::vector<ListError> list_errors(postgres::Session& session, std::size_t limit,
                                   ListPurpose purpose = ListPurpose::Backfill);

/// Returns the number of lists of backfills that have failed permanently since `since`.
std::int64_t lists_abandoned_since(postgres::Session& session, Timestamp since);

}  // namespace skua::backfill
