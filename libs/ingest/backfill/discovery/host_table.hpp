#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backfill/queue/job_table.hpp"
#include "base/time.hpp"
#include "postgres/session.hpp"

namespace skua::backfill {

/// The lists of repositories to read and their progress: `skua.backfill_hosts`. A discovery
/// therefore continues after a kill. The table has at most thousands of rows. This header adds
/// lists. list_table.hpp leases them, saves the position of each, and counts them. All functions
/// run on the session's thread, in the caller's transaction or each statement in its own, and throw
/// postgres::SqlError. Lease owners are the same as for jobs (`job_table.hpp`).

/// The kinds of lists that a host can send.
inline const std::string kListOfRepos = "repos";
inline const std::string kListOfHosts = "hosts";
/// Returns the kind of a relay's list of the accounts that use a collection.
std::string list_of_collection(const std::string& nsid);
/// The lists for an audit (audit.hpp): the hosts that a relay knows, and the accounts of a host.
inline const std::string kAuditOfHosts = "audit:hosts";
inline const std::string kAuditOfRepos = "audit:repos";

/// The purpose of a list. A process reads the lists of each purpose separately.
enum class ListPurpose : std::uint8_t { Backfill, Audit };

/// A list: the origin of the server, such as `https://pds.example`, and the kind of list.
struct HostList {
  std::string host;
  std::string what = kListOfRepos;
  /// Whether an operator has specified the list (transport::HostOrigin::configured). Otherwise its
  /// host was found on a list.
  bool is_operator_specified = false;
  /// The number of accounts of the host according to a relay, or nothing if it is unknown.
  std::optional<std::int64_t> announced = std::nullopt;
  friend bool operator==(const HostList&, const HostList&) = default;
};

/// Adds lists, due now. A list that exists continues at its position. With `Again::Yes` it is due
/// now. A list that has ended, failed or been cancelled restarts with `Again::Yes`, and does not
/// change with `Again::No`. A list that an operator has specified stays operator-specified. The
/// announced number of accounts replaces the stored one. Returns how many lists are new or restart.
std::size_t add_lists(postgres::Session& session, std::span<const HostList> lists, Again again,
                      Timestamp now);

/// Adds the lists of hosts that are entries of a list of hosts, due now. `named_since` is the time
/// at which that list of hosts was started. A list that has ended or failed restarts if it was
/// started before that time. Other existing lists do not change. Returns how many lists are new or
/// restart.
std::size_t add_named_lists(postgres::Session& session, std::span<const HostList> lists,
                            Timestamp named_since, Timestamp now);

/// Returns the hosts with an operator-specified list, sorted.
std::vector<std::string> operator_hosts(postgres::Session& session);

/// Returns the maximum number of accepted entries. For the accounts of a host it is ten times the
/// announced number, and at least 1,000. Without an announced number it is a million for an
/// operator-specified host, and 100,000 for other hosts. Other lists have no limit.
std::int64_t most_entries(const HostList& list);

}  // namespace skua::backfill
