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

/// How far lists of repositories were read: `skua.backfill_hosts`, so that a discovery that was
/// killed goes on where it was. Thousands of rows at most. All functions run on the session's
/// thread, in the caller's transaction or each statement in its own, and throw store::SqlError.
/// Holders are those of jobs (`job_table.hpp`).

/// What a host is asked for.
inline const std::string kListOfRepos = "repos";
inline const std::string kListOfHosts = "hosts";
/// All that use a collection, as a relay knows them.
std::string list_of_collection(const std::string& nsid);
/// What an audit asks for (audit.hpp): the hosts that a relay knows, the accounts of a host.
inline const std::string kAuditOfHosts = "audit:hosts";
inline const std::string kAuditOfRepos = "audit:repos";

/// What lists are read for. Each process reads those of one purpose apart from the others.
enum class ListPurpose : std::uint8_t { Backfill, Audit };

/// A list: who is asked, as an origin such as `https://pds.example`, and for what.
struct HostList {
  std::string host;
  std::string what = kListOfRepos;
  /// Named by the person who runs this (transport::HostOrigin::configured), not by a list.
  bool by_hand = false;
  /// How many accounts a relay says that the host has; nothing: nobody says.
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
/// list of hosts began. A list that has ended or failed restarts if it had begun before that time;
/// other lists that exist do not change. Returns how many lists are new or restart.
std::size_t add_named_lists(store::Session& session, std::span<const HostList> lists,
                            Timestamp named_since, Timestamp now);

/// The hosts with an operator-specified list, sorted.
std::vector<std::string> operator_hosts(store::Session& session);

/// How many entries of a list are accepted. For the accounts of a host: ten times the announced
/// number, and at least 1,000. Without an announced number: a million for an operator-specified
/// host, 100,000 for others. Other lists: all.
std::int64_t most_entries(const HostList& list);

/// A list to go on with.
struct ClaimedList {
  HostList list;
  /// Where its next page begins; nothing: at the beginning.
  std::optional<std::string> cursor;
  /// How many entries its pages had so far.
  std::int64_t listed = 0;
  /// When it was asked for last, from its beginning.
  Timestamp begun_at{};
};

/// Takes up to `limit` lists of which a page is due, those first that wait longest. Each is the
/// holder's until the lease is over: each page that is saved extends it.
std::vector<ClaimedList> claim_lists(store::Session& session, std::size_t limit, const Claim& claim,
                                     ListPurpose purpose = ListPurpose::Backfill);

/// A page was read: it had so many entries, and the next begins at the cursor; nothing: it was the
/// last. In one transaction with what became of its entries (`add_jobs`, `add_lists`). False: the
/// list is another's by now, who reads this page too; nothing was saved.
bool save_page(store::Session& session, const HostList& list,
               const std::optional<std::string>& next_cursor, std::int64_t entries,
               const Claim& claim);

/// A page could not be read: it is due again after `job_delay` and what the host asked for, or
/// given up after `max_attempts` failures in a row. Anybody may go on with it. False: given up.
bool list_failed(store::Session& session, const HostList& list, const std::string& words,
                 std::chrono::seconds asked, const std::string& holder, Timestamp now,
                 int max_attempts = kMaxAttempts);

/// The host asked to wait (429): not a failure.
void list_postponed(store::Session& session, const HostList& list, const std::string& words,
                    std::chrono::seconds asked, const std::string& holder, Timestamp now);

/// A clean stop: the holder's lists are anybody's, now. Returns how many.
std::size_t release_lists(store::Session& session, const std::string& holder, Timestamp now);

/// The same for lists whose holder has no session on this database.
std::size_t take_back_orphan_lists(store::Session& session, Timestamp now);

/// When the next page of any list is due, or was; of one that is being read: when another may go on
/// with it. Nothing: all were read, or given up.
std::optional<Timestamp> next_page_due(store::Session& session,
                                       ListPurpose purpose = ListPurpose::Backfill);

/// As in `skua.backfill_hosts.state`.
enum class ListState : std::uint8_t { None, Listing, Listed, Failed, Cancelled };

/// Lists of one kind (`HostList::what`) by state, and their entries so far.
struct ListCounts {
  std::map<ListState, std::int64_t> lists;
  std::int64_t listed = 0;
};

std::map<std::string, ListCounts> list_counts(store::Session& session,
                                              ListPurpose purpose = ListPurpose::Backfill);

/// A list whose last page could not be read, and why, for people.
struct ListError {
  HostList list;
  ListState state = ListState::Listing;
  std::string words;
};

/// Lists of backfills that wait after a failure, or were given up; those that failed last first.
std::vector<ListError> list_errors(store::Session& session, std::size_t limit);

/// How many lists of backfills were given up since then.
std::int64_t lists_given_up_since(store::Session& session, Timestamp since);

}  // namespace skua::backfill
