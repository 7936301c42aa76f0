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

/// Adds lists, due now. One that is there goes on where it is, now if `Again::Yes`; one that was
/// read to its end, given up or cancelled begins anew if `Again::Yes`, and is left alone if
/// `Again::No`. One that was named by hand once stays so; what is announced of one replaces what
/// was. Returns how many are new or begin anew.
std::size_t add_lists(store::Session& session, std::span<const HostList> lists, Again again,
                      Timestamp now);

/// Adds lists that a list of hosts names which began at `named_since`, due now. One that was read
/// to its end or given up begins anew if it had begun before that; any other that is there is left
/// alone. Returns how many are new or begin anew.
std::size_t add_named_lists(store::Session& session, std::span<const HostList> lists,
                            Timestamp named_since, Timestamp now);

/// The hosts of which some list was named by hand, sorted.
std::vector<std::string> hosts_by_hand(store::Session& session);

/// How many entries of a list are taken. A list of the accounts of a host: ten times as many as are
/// announced of its host, a thousand at least; where nothing is announced, a million of a host that
/// was named by hand, a hundred thousand of another. Other lists: all.
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
