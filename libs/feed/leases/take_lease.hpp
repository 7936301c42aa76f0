#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "feed/leases/lease.hpp"
#include "store/session.hpp"

namespace skua::feed {

struct LaneRequest {
  std::int32_t consumer_id = 0;
  std::string owner;
  std::chrono::milliseconds duration{30'000};
  /// At most this number of changes; 0: as the tuning profile says.
  std::int32_t most = 0;
  /// Does not wait for changes to collect.
  bool ignores_pause = false;
};

/// Leases a lane of a leased consumer that runs: the one that waits longest, has changes, and is
/// not leased. Waiting changes of an account and the changes of the lane take turns. Time is the
/// server's. Any number of sessions of any processes may call it; they never get the same lane.
/// Nothing: there is no such lane now. A transaction of its own. Throws store::SqlError.
std::optional<Lease> take_lease(store::Session& session, const LaneRequest& request);

/// Records which changes the holder of a lease gets: `count` of the changes from `first` to before
/// `end`. Changes of the lease before `first` are not for the consumer: the lane passes them.
/// False: the lease is lost. A transaction of its own. Throws store::SqlError.
bool note_batch(store::Session& session, const LeaseName& lease, std::int64_t first,
                std::int64_t end, std::int32_t count);

}  // namespace skua::feed
