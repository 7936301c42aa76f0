#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backfill/discovery/host_table.hpp"
#include "backfill/queue/job_table.hpp"
#include "base/time.hpp"
#include "store/session.hpp"

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
std::vector<LeasedList> lease_lists(store::Session& session, std::size_t limit,
                                    const LeaseRequest& request,
                                    ListPurpose purpose = ListPurpose::Backfill);

/// Saves that a page was read: its number of entries, and the cursor of the next page; nothing: it
/// was the last. Call it in one transaction with the results of its entries (`add_jobs`,
/// `add_lists`). False: another process leases the list by now and reads this page too; nothing was
/// saved.
bool save_page(store::Session& session, const HostList& list,
               const std::optional<std::string>& next_cursor, std::int64_t entries,
               const LeaseRequest& request);

/// A page could not be read: it is due again after `job_delay` and the wait that the host asked
/// for. After `max_attempts` failures in a row the list fails permanently. Any process may continue
/// with it. False: it failed permanently.
bool list_failed(store::Session& session, const HostList& list, const std::string& reason,
                 std::chrono::seconds asked, const std::string& lease_owner, Timestamp now,
                 int max_attempts = kMaxAttempts);

/// The host asked to wait (429), which is not a failure.
void list_postponed(store::Session& session, const HostList& list, const std::string& reason,
                    std::chrono::seconds asked, const std::string& lease_owner, Timestamp now);

/// For a clean stop: releases the leases of this owner at once. Returns their number.
std::size_t release_lists(store::Session& session, const std::string& lease_owner, Timestamp now);

/// The same for lists whose lease owner has no session on this database.
std::size_t reclaim_orphan_lists(store::Session& session, Timestamp now);

/// When the next page of any list is or was due; for a leased list: when its lease expires.
/// Nothing: all lists were read or have failed permanently.
std::optional<Timestamp> next_page_due(store::Session& session,
                                       ListPurpose purpose = ListPurpose::Backfill);

}  // namespace skua::backfill
