#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/account_number.hpp"

namespace skua::feed {

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

}  // namespace skua::feed
