#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backfill/queue/job_table.hpp"
#include "base/time.hpp"
#include "store/session.hpp"

namespace skua::backfill {

/// The progress of reading lists of repositories: `skua.backfill_hosts`, so that a discovery
/// continues after a kill. Thousands of rows at most. All functions run on the session's thread, in
/// the caller's transaction or each statement in its own, and throw store::SqlError. Lease owners
/// are those of jobs (`job_table.hpp`).

/// The kinds of lists that a host is asked for.
inline const std::string kListOfRepos = "repos";
inline const std::string kListOfHosts = "hosts";
/// The accounts that use a collection, according to a relay.
std::string list_of_collection(const std::string& nsid);
/// The lists for an audit (audit.hpp): the hosts that a relay knows, the accounts of a host.
inline const std::string kAuditOfHosts = "audit:hosts";
inline const std::string kAuditOfRepos = "audit:repos";

/// The purpose of a list. A process reads the lists of each purpose separately.
enum class ListPurpose : std::uint8_t { Backfill, Audit };

/// A list: the origin of the server, such as `https://pds.example`, and the kind of list.
struct HostList {
  std::string host;
  std::string what = kListOfRepos;
  /// Specified by the operator (transport::HostOrigin::configured), not found on a list.
  bool is_operator_specified = false;
  /// The number of accounts of the host, according to a relay; nothing: unknown.
  std::optional<std::int64_t> announced = std::nullopt;
  friend bool operator==(const HostList&, const HostList&) = default;
};

/// Adds lists, due now. A list that exists continues at its position; with `Again::Yes` it is due
/// now. A list that has ended, failed or been cancelled restarts with `Again::Yes`, and does not
/// change with `Again::No`. A list that an operator has specified stays operator-specified. The
/// announced number of accounts replaces the stored one. Returns how many lists are new or restart.
std::size_t add_lists(store::Session& session, std::span<const HostList> lists, Again again,
                      Timestamp now);

/// Adds the lists of hosts that are entries of a list of hosts, due now. `named_since`: when that
/// list of hosts was started. A list that has ended or failed restarts if it was started before
/// that time; other existing lists do not change. Returns how many lists are new or restart.
std::size_t add_named_lists(store::Session& session, std::span<const HostList> lists,
                            Timestamp named_since, Timestamp now);

/// The hosts with an operator-specified list, sorted.
std::vector<std::string> operator_hosts(store::Session& session);

/// The maximum number of accepted entries. For the accounts of a host: ten times the announced
/// number, and at least 1,000. Without an announced number: a million for an operator-specified
/// host, 100,000 for others. Other lists: no limit.
std::int64_t most_entries(const HostList& list);

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
bool list_failed(store::Session& session, const HostList& list, const std::string& words,
                 std::chrono::seconds asked, const std::string& lease_owner, Timestamp now,
                 int max_attempts = kMaxAttempts);

/// The host asked to wait (429), which is not a failure.
void list_postponed(store::Session& session, const HostList& list, const std::string& words,
                    std::chrono::seconds asked, const std::string& lease_owner, Timestamp now);

/// For a clean stop: releases the leases of this owner at once. Returns their number.
std::size_t release_lists(store::Session& session, const std::string& lease_owner, Timestamp now);

/// The same for lists whose lease owner has no session on this database.
std::size_t take_back_orphan_lists(store::Session& session, Timestamp now);

/// When the next page of any list is or was due; for a leased list: when its lease expires.
/// Nothing: all lists were read or have failed permanently.
std::optional<Timestamp> next_page_due(store::Session& session,
                                       ListPurpose purpose = ListPurpose::Backfill);

/// As in `skua.backfill_hosts.state`.
enum class ListState : std::uint8_t { None, Listing, Listed, Failed, Cancelled };

/// The lists of one kind (`HostList::what`) by state, and their entries so far.
struct ListCounts {
  std::map<ListState, std::int64_t> lists;
  std::int64_t listed = 0;
};

std::map<std::string, ListCounts> list_counts(store::Session& session,
                                              ListPurpose purpose = ListPurpose::Backfill);

/// A list whose last page could not be read, and the reason, for people.
struct ListError {
  HostList list;
  ListState state = ListState::Listing;
  std::string words;
};

/// Lists of backfills that wait after a failure or have failed permanently; the most recent
/// failures first.
std::vector<ListError> list_errors(store::Session& session, std::size_t limit);

/// The number of lists of backfills that have failed permanently since then.
std::int64_t lists_abandoned_since(store::Session& session, Timestamp since);

}  // namespace skua::backfill
