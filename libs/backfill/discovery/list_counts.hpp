#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "backfill/discovery/host_table.hpp"
#include "base/time.hpp"
#include "store/session.hpp"

namespace skua::backfill {

/// The number of lists by state, and the failed ones (see host_table.hpp).

/// As in `skua.backfill_hosts.state`. A list that waits for its next attempt is None here.
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
  std::string reason;
  /// The time of the next attempt, while it waits.
  Timestamp next_attempt;
};

/// Lists that wait after a failure or have failed permanently; the most recent
/// failures first.
std::vector<ListError> list_errors(store::Session& session, std::size_t limit,
                                   ListPurpose purpose = ListPurpose::Backfill);

/// The number of lists of backfills that have failed permanently since then.
std::int64_t lists_abandoned_since(store::Session& session, Timestamp since);

}  // namespace skua::backfill
