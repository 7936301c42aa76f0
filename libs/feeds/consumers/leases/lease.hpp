#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/account_number.hpp"
#include "base/time.hpp"
#include "consumers/leases/waiting_changes.hpp"
#include "consumers/letter_event.hpp"
#include "postgres/session.hpp"

namespace skua::consumers {

/// Identifies a lease. The owner is a text that only the process or program with the lease knows
/// (`new_lease_owner`). A lease with an older epoch cannot end a later lease of the lane.
struct LeaseName {
  std::int32_t consumer_id = 0;
  std::int32_t lane = 0;
  std::int64_t epoch = 0;
  std::string owner;
};

/// Returns a random owner of a lease. It ends with the token of this process
/// (postgres::process_token), so that other processes can see whether its session was lost.
std::string new_lease_owner();

/// The right to process the next changes of a lane of a leased consumer for a limited time. A lane
/// has at most one lease at a time. The lease covers either the lane's own changes from `pos` on,
/// or the waiting changes of one account (skua.waiting_changes).
struct Lease {
  LeaseName name;
  std::int32_t lanes = 1;
  std::int64_t pos = 0;
  /// The position after the last change that exists.
  std::int64_t end = 0;
  /// The account whose waiting changes are leased; nothing if the lease covers the lane's own
  /// changes.
  std::optional<AccountNumber> key;
  /// The maximum number of changes.
  std::int32_t batch = 0;
  /// The change at `pos`, from its dead letter, if the log does not have it any more. The lease
  /// then covers this change alone.
  std::optional<LetterChange> letter;
  /// The accounts of the lane whose changes wait behind a dead letter. The lane skips their
  /// changes.
  std::vector<AccountNumber> waiting_keys;
};

/// Says what a failure concerns, and thereby who must correct it.
enum class FailureCause : std::uint8_t {
  /// A change, or the processing of a change.
  Change,
  /// The lease ended without an answer. A change may be the reason, so the attempt counts.
  Expiry,
  // The following causes concern the receiver of a webhook.
  /// The connection to the receiver cannot be opened.
  Unreachable,
  /// The name of the receiver does not resolve.
  Name,
  /// The certificate of the receiver is not valid.
  Tls,
  /// The receiver did not answer in time. A change may be the reason, so the attempt counts.
  Slow,
  /// The receiver refuses the sender, for example with HTTP 401.
  Refused,
  /// No program at this URL processes changes; the answer is for example HTTP 404.
  Address,
  /// The receiver asks the sender to wait, for example with HTTP 503.
  Busy,
  // The following causes concern the database.
  /// The tables of the projection, its statements, or a missing right; of a leased consumer what
  /// its changes are read from.
  Tables,
  /// Another session holds a lock.
  Lock,
  /// The filter of a leased consumer is malformed.
  Filter,
};

/// Returns the text that skua.consumer_lanes.cause has for a cause.
std::string_view to_string(FailureCause cause);
/// Returns Change for an unknown text.
FailureCause failure_cause(std::string_view text);

/// Says why the owner of a lease could not process changes.
struct LeaseFailure {
  /// The change that failed; the changes before it are acknowledged. Nothing if the failed change
  /// is unknown: the next batch is then half as large, until a change stands alone.
  std::optional<std::int64_t> pos;
  std::string error;
  /// The time until the next attempt; nothing for the time of the tuning profile.
  std::optional<std::chrono::milliseconds> wait;
  /// True if another attempt is useless. The policy then applies at once. Requires `pos`, or a
  /// batch of one change.
  bool is_final = false;
  /// True if the changes did not cause the failure. The attempt then does not count, and `wait`
  /// alone determines the time until the next attempt.
  bool is_temporary = false;
  FailureCause cause = FailureCause::Change;
};

/// A lease, as it is stored in the database.
struct HeldLease {
  std::string consumer;
  std::string policy;
  /// The number of lanes of the consumer.
  std::int32_t lanes = 1;
  /// The position of the first change that is not acknowledged.
  std::int64_t pos = 0;
  /// The position after the last change of the lease.
  std::int64_t end = 0;
  /// The number of changes of the lease.
  std::int32_t count = 0;
  /// The number of failures of the change at `pos`.
  std::int32_t attempts = 0;
  /// The account whose waiting changes are leased; nothing if the lease covers the lane's own
  /// changes.
  std::optional<AccountNumber> key;
  WaitingChanges waiting;
};

// All functions below run in the transaction of the caller and throw postgres::SqlError.

/// Locks the lane of a lease. Returns nothing if the lease is lost.
std::optional<HeldLease> lock_lease(postgres::Session& session, const LeaseName& lease);

/// Stores that the changes before `next` are processed: moves the position of the lane, or of the
/// waiting changes. Waiting changes end when they reach the position of the lane.
void advance_lease(postgres::Session& session, const LeaseName& lease, const HeldLease& held,
                   std::int64_t next);

void release_lease(postgres::Session& session, const LeaseName& lease);

struct LaneRequest {
  std::int32_t consumer_id = 0;
  std::string owner;
  std::chrono::milliseconds duration{30'000};
  /// The maximum number of changes; 0 means the number of the tuning profile.
  std::int32_t most = 0;
  /// True if the lease does not wait until more changes have collected.
  bool ignores_pause = false;
  /// The number of lanes of the consumer that may be leased at the same time.
  std::int32_t processors = 64;
  /// The time since the caller last lost its connection to the server; nothing if it never did. It
  /// could not store the end of a lease then, so the expiry of an older lease counts no attempt.
  std::optional<std::chrono::milliseconds> since_failure = std::nullopt;
  /// Reads the event of a change that becomes a dead letter.
  ReadLetterEvent read_event = nullptr;
  /// Numbers of moves of groups, with commas between them. The changes after the arrival of groups
  /// by another move are not leased yet. Nothing: all changes are.
  std::optional<std::string> passed_moves = std::nullopt;
};

/// Leases a lane of a running leased consumer: the lane that has waited longest, has changes, and
/// is not leased. Waiting changes of an account and the changes of the lane take turns. The
/// server's clock decides. Any number of sessions of any processes may call this function; they
/// never get the same lane. Returns nothing if there is no such lane now. Runs its own transaction.
/// Throws postgres::SqlError.
///
/// If the lease of a chosen lane has expired, this is a failure of unknown cause (`report_failure`
/// without a position). It counts no attempt in these cases: the owner never got the changes
/// (`note_batch`); the server has restarted, or the caller has lost its connection, since the lease
/// began; or the owner's process has lost its session. The last is known if that process has a
/// session with the role of this one (postgres::process_name) that began after the lease.
std::optional<Lease> take_lease(postgres::Session& session, const LaneRequest& request);

/// What the owner of a lease learns about it together with the changes.
struct Attempt {
  /// The number of this attempt with the first change, from 1. Failures of larger batches are not
  /// attempts. After `max_attempts` of the tuning profile the policy applies.
  std::int32_t number = 1;
  /// The end of the lease by the server's clock, and the time until then.
  Timestamp lease_until;
  std::chrono::milliseconds left{0};
};

/// Records which changes the owner of a lease gets: `count` of the changes from `first` to before
/// `end`. Changes of the lease before `first` do not pass the filter of the consumer, and the lane
/// skips them. Returns nothing if the lease is lost. Runs its own transaction. Throws
/// postgres::SqlError.
std::optional<Attempt> note_batch(postgres::Session& session, const LeaseName& lease,
                                  std::int64_t first, std::int64_t end, std::int32_t count);

// The following functions store the reports of the owner of a lease. Each runs one transaction, and
// throws postgres::SqlError.
//
// An expired lease is still valid until `take_lease` chooses its lane. After that a report of the
// former owner has no effect.

enum class LeaseResult : std::uint8_t {
  /// The lease continues.
  Held,
  /// The lease has ended.
  Ended,
  /// The lease was lost before, so nothing changed.
  Lost,
  /// The position does not belong to the lease, so nothing changed.
  NotOfLease,
};

/// A change that another attempt does not help.
struct Rejection {
  std::int64_t pos = 0;
  std::string error;
};

/// Acknowledges the changes up to `through`, or all changes of the lease if `through` is nothing.
/// The lease ends with its last change, or if `ends` is set; otherwise it continues for `duration`.
struct Acknowledgement {
  std::optional<std::int64_t> through = std::nullopt;
  bool ends = false;
  std::chrono::milliseconds duration{30'000};
  /// The changes up to `through` that were not processed. The policy applies to each. If the policy
  /// stops the lane or the consumer at one of them, or the lease covers waiting changes, the lease
  /// ends there, and later changes are delivered again. With `block_key`, a rejected change of an
  /// account that already waits is one of the changes that wait.
  std::vector<Rejection> rejected = {};
  /// Reads the event of a change that becomes a dead letter.
  ReadLetterEvent read_event = nullptr;
};
LeaseResult acknowledge(postgres::Session& session, const LeaseName& lease,
                        const Acknowledgement& acknowledgement);

/// Extends the lease until `duration` from now.
LeaseResult renew_lease(postgres::Session& session, const LeaseName& lease,
                        std::chrono::milliseconds duration);

/// Ends the lease after a failure: the changes are delivered again later, or the policy of the
/// consumer applies. `read_event` reads the event of a change that becomes a dead letter.
LeaseResult report_failure(postgres::Session& session, const LeaseName& lease,
                           const LeaseFailure& failure,
                           const ReadLetterEvent& read_event = nullptr);

/// Returns the timeline of the positions of the changes that the lease covers: that of a dead
/// letter at the beginning of its waiting changes, otherwise the present one.
std::int32_t timeline_of(postgres::Session& session, const LeaseName& lease);

/// Ends a lease whose changes the log no longer has. The oldest change of the log is at `oldest`.
/// The consumer is then lagged out; if the lease covers waiting changes, only the changes of their
/// account are lost.
LeaseResult report_loss(postgres::Session& session, const LeaseName& lease, std::int64_t oldest);

/// Stores that an SQL error that concerns only this consumer, or its filter, prevents reading its
/// changes. Lists and metrics show the error until a batch succeeds. Ends the leases that have no
/// changes yet. The next attempt follows after `wait`.
void note_unreadable(postgres::Session& session, std::int32_t consumer_id, FailureCause cause,
                     const std::string& error, std::chrono::milliseconds wait);

/// Clears a failure with the cause Filter.
void note_filter_works(postgres::Session& session, std::int32_t consumer_id);

}  // namespace skua::consumers
