#pragma once

#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "backfill/discovery/discovery.hpp"
#include "base/time.hpp"
#include "store/session.hpp"

namespace skua::backfill {

// An audit compares the revisions that hosts list with the stored ones, to find accounts of which
// the stream never brought the last commits: a relay drops a commit, or keeps fewer days than the
// indexer was away. An account that writes again shows the gap itself; an audit finds those that
// stay quiet. All functions throw store::SqlError.

struct AuditOptions {
  /// The origin of the relay that names the hosts.
  std::string relay;
  /// From the beginning of one audit to the beginning of the next.
  std::chrono::seconds every = std::chrono::hours(24);
  /// False: there is no audit while the filter names accounts.
  bool with_filtered_accounts = false;
  /// The names of the relays that are read, as in `skua.cursors`.
  std::vector<std::string> sources = {};
  /// The least time between two pages, of all hosts together.
  std::chrono::milliseconds page_interval{1'000};
};

/// Has the relay's list of hosts read from its beginning, if the last audit began `every` ago. The
/// first audit of a database begins so long after the first call. Each page of accounts is then up
/// to `desynchronize_behind`.
void begin_audit(store::Session& session, const AuditOptions& options, Timestamp now);

/// Makes complete repositories wait for a resync that are behind the revision that their host
/// lists; returns how many. Left alone: accounts that live elsewhere or whose host is not known,
/// those that the filter leaves out, and revisions that the stream may still bring, which are those
/// younger than ten minutes before the newest event of `sources`. In the caller's transaction.
std::size_t desynchronize_behind(store::Session& session, const std::string& host,
                                 std::span<const ListedRepo> repos,
                                 std::span<const std::string> sources, Timestamp now);

}  // namespace skua::backfill
