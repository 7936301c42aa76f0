#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/account_number.hpp"
#include "consumers/leases/waiting_changes.hpp"
#include "postgres/session.hpp"

namespace skua::consumers {

/// Identifies a lease. Only the holder knows the owner, which is random. An older epoch never ends
/// a later lease of the lane.
struct LeaseName {
  std::int32_t consumer_id = 0;
  std::int32_t lane = 0;
  std::int64_t epoch = 0;
  std::string owner;
};

/// The right to process the next changes of a lane of a leased consumer, until its end or for some
/// time. A lane has one lease at a time. The lease is for the lane's own changes from `pos` on, or
/// for waiting changes of one account (skua.waiting_changes).
struct Lease {
  LeaseName name;
  std::int32_t lanes = 1;
  std::int64_t pos = 0;
  /// The position after the last change that exists.
  std::int64_t end = 0;
  /// The account whose waiting changes are leased; nothing: the lane's own changes are.
  std::optional<AccountNumber> key;
  /// The maximum number of changes.
  std::int32_t batch = 0;
  /// Accounts of the lane whose changes wait: the lane leaves them out.
  std::vector<AccountNumber> waiting_keys;
};

/// What a failure concerns, and so who must correct it.
enum class FailureCause : std::uint8_t {
  /// A change, or its processing.
  Change,
  // The receiver of a webhook.
  /// No connection.
  Unreachable,
  /// Its name does not resolve.
  Name,
  /// Its certificate.
  Tls,
  /// No answer in time. A change may be the reason: attempts count.
  Slow,
  /// It refuses the sender, such as HTTP 401.
  Refused,
  /// Nothing at this URL processes changes, such as HTTP 404.
  Address,
  /// It asks to wait, such as HTTP 503.
  Busy,
  // The database, for a projection.
  /// Its tables or statements, or a right.
  Tables,
  /// Another session.
  Lock,
};

/// As in skua.consumer_lanes.cause.
std::string_view to_string(FailureCause cause);
/// Change for any other text.
FailureCause failure_cause(std::string_view text);

/// Why the holder of a lease could not process changes.
struct LeaseFailure {
  /// The change that failed; the changes before it are acknowledged. Nothing: it is not known. The
  /// next batch is then half as large, until a change stands alone.
  std::optional<std::int64_t> pos;
  std::string error;
  /// The time until the next attempt, if the holder asks for a longer one than the tuning profile.
  std::optional<std::chrono::milliseconds> wait;
  /// Another attempt is useless: the policy applies at once. Needs `pos`, or a batch of one change.
  bool is_final = false;
  /// The changes did not cause it: the attempt does not count. `wait` then is the time.
  bool is_temporary = false;
  FailureCause cause = FailureCause::Change;
};

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

// All run in the transaction of the caller and throw postgres::SqlError.

/// Locks the lane of a lease. Nothing: the lease is lost.
std::optional<HeldLease> lock_lease(postgres::Session& session, const LeaseName& lease);

/// The changes before `next` are processed: moves the position of the lane, or of the waiting
/// changes. The latter end where the lane is.
void advance_lease(postgres::Session& session, const LeaseName& lease, const HeldLease& held,
                   std::int64_t next);

/// Ends the lease.
void release_lease(postgres::Session& session, const LeaseName& lease);

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
/// Nothing: there is no such lane now. A transaction of its own. Throws postgres::SqlError.
std::optional<Lease> take_lease(postgres::Session& session, const LaneRequest& request);

/// Records which changes the holder of a lease gets: `count` of the changes from `first` to before
/// `end`. Changes of the lease before `first` are not for the consumer: the lane passes them.
/// False: the lease is lost. A transaction of its own. Throws postgres::SqlError.
bool note_batch(postgres::Session& session, const LeaseName& lease, std::int64_t first,
                std::int64_t end, std::int32_t count);

// What the holder of a lease reports. Each is one transaction, and throws postgres::SqlError.
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
LeaseResult acknowledge(postgres::Session& session, const LeaseName& lease,
                        const Acknowledgement& acknowledgement);

/// The lease continues for `duration` from now on.
LeaseResult renew_lease(postgres::Session& session, const LeaseName& lease,
                        std::chrono::milliseconds duration);

/// Ends the lease after a failure: the changes are delivered again later, or the policy of the
/// consumer applies.
LeaseResult report_failure(postgres::Session& session, const LeaseName& lease,
                           const LeaseFailure& failure);

/// Ends a lease whose changes the log does not have any more: the first one that it has is at
/// `oldest`. The consumer is lagged out; of waiting changes only those of their account are lost.
LeaseResult report_loss(postgres::Session& session, const LeaseName& lease, std::int64_t oldest);

/// Notes that an SQL error, which concerns this consumer only, prevents that its changes are read.
/// Its lists and metrics show it until a batch succeeds.
void note_unreadable(postgres::Session& session, std::int32_t consumer_id,
                     const postgres::SqlError& error);

}  // namespace skua::consumers
