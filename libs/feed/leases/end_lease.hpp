#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "feed/leases/lease.hpp"
#include "store/session.hpp"

namespace skua::feed {

// What the holder of a lease reports. Each is one transaction, and throws store::SqlError.
//
// A lease that has expired is still valid as long as nobody else has leased the lane. After that
// the former holder changes nothing.

enum class LeaseResult : std::uint8_t {
  /// The lease continues.
  Held,
  /// The lease is over.
  Ended,
  /// The lease was lost before: nothing changed.
  Lost,
  /// The position is not one of the lease: nothing changed.
  NotOfLease,
};

/// The changes up to `through` are processed; nothing: all of the lease. The lease ends with its
/// last change, or if `ends` is set; otherwise it continues for `duration`.
struct Acknowledgement {
  std::optional<std::int64_t> through = std::nullopt;
  bool ends = false;
  std::chrono::milliseconds duration{30'000};
};
LeaseResult acknowledge(store::Session& session, const LeaseName& lease,
                        const Acknowledgement& acknowledgement);

/// The lease continues for `duration` from now on.
LeaseResult renew_lease(store::Session& session, const LeaseName& lease,
                        std::chrono::milliseconds duration);

/// Ends the lease after a failure: the changes are delivered again later, or the policy of the
/// consumer applies.
LeaseResult report_failure(store::Session& session, const LeaseName& lease,
                           const LeaseFailure& failure);

/// Ends a lease whose changes the log does not have any more: the first one that it has is at
/// `oldest`. The consumer is lagged out; of waiting changes only those of their account are lost.
LeaseResult report_loss(store::Session& session, const LeaseName& lease, std::int64_t oldest);

/// Notes that an SQL error, which concerns this consumer only, prevents that its changes are read.
/// Its lists and metrics show it until a batch succeeds.
void note_unreadable(store::Session& session, std::int32_t consumer_id,
                     const store::SqlError& error);

}  // namespace skua::feed
