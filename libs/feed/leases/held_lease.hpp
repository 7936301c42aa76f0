#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/account_number.hpp"
#include "feed/leases/lease.hpp"
#include "feed/leases/waiting_changes.hpp"
#include "store/session.hpp"

namespace skua::feed {

/// A lease as the database has it.
struct HeldLease {
  std::string consumer;
  std::string policy;
  /// The position of the first change that is not acknowledged.
  std::int64_t pos = 0;
  /// The position after the last change of the lease.
  std::int64_t end = 0;
  /// The changes of the lease.
  std::int32_t count = 0;
  /// Failures of the change at `pos`.
  std::int32_t attempts = 0;
  /// Set: the lease is for waiting changes of this account.
  std::optional<AccountNumber> key;
  WaitingChanges waiting;
};

// All run in the transaction of the caller and throw store::SqlError.

/// Locks the lane of a lease. Nothing: the lease is lost.
std::optional<HeldLease> lock_lease(store::Session& session, const LeaseName& lease);

/// The changes before `next` are processed: moves the position of the lane, or of the waiting
/// changes. The latter end where the lane is.
void advance_lease(store::Session& session, const LeaseName& lease, const HeldLease& held,
                   std::int64_t next);

/// Ends the lease.
void release_lease(store::Session& session, const LeaseName& lease);

}  // namespace skua::feed
