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

/// The lists of repositories to read and their progress: `skua.backfill_hosts`, so that a discovery
/// continues after a kill. Thousands of rows at most. This header adds lists; list_table.hpp
/// leases them and saves how far they were read, list_table.hpp counts them. All functions run on
/// the session's thread, in the caller's transaction or each statement in its own, and throw
/// postgres::SqlError. Lease owners are those of jobs (`job_table.hpp`).

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
std::size_t add_lists(postgres::Session& session, std::span<const HostList> lists, Again again,
                      Timestamp now);

/// Adds the lists of hosts that are entries of a list of hosts, due now. `named_since`: when that
/// list of hosts was started. A list that has ended or failed restarts if it was started before
/// that time; other existing lists do not change. Returns how many lists are new or restart.
std::size_t add_named_lists(postgres::Session& session, std::span<const HostList> lists,
                            Timestamp named_since, Timestamp now);

/// The hosts with an operator-specified list, sorted.
std::vector<std::string> operator_hosts(postgres::Session& session);

/// The maximum number of accepted entries. For the accounts of a host: ten times the announced
/// number, and at least 1,000. Without an announced number: a million for an operator-specified
/// host, 100,000 for others. Other lists: no limit.
std::int64_t most_entries(const HostList& list);

}  // namespace skua::backfill
