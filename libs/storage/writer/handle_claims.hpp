#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/account_number.hpp"
#include "base/time.hpp"
#include "postgres/session.hpp"
#include "writer/effects.hpp"

namespace skua::writer {

// The owner of a handle (atproto.com/specs/handle). The handle that an account claims and the
// handle that it has are kept apart. A handle that no account has by a look-up belongs to its
// latest claim at once. A look-up that leads back to the account confirms its claim. A handle that
// another account has by a look-up needs a look-up that confirms the new claim. A refused claim
// stays refused until a look-up confirms it, also if it is repeated. In any order of claims and
// look-ups, the right account has the handle in the end.
//
// An account gets ten look-ups at once and then one in five minutes; refused claims are looked up
// after all others.

/// The claim of a handle by an account.
struct HandleClaim {
  AccountNumber actor_id = 0;
  /// Empty: the account claims none.
  std::string handle;
  /// The time of the event that contains the claim.
  Timestamp time;
};

/// Writes claims, one an account, in the caller's transaction; the newest of an account wins.
/// Returns the number of rows written. Throws SqlError, like all functions here.
std::size_t write_handle_claims(postgres::Session& session, std::span<const HandleClaim> claims,
                                Timestamp now, Effects& effects);

/// A claim that is to be looked up.
struct DueHandle {
  AccountNumber actor_id = 0;
  std::string did;
  std::string handle;
  /// Since when it is due. This distinguishes the claim from a later, equal one.
  Timestamp due;
  /// When the account made the claim.
  Timestamp claimed_at;
};

/// The claims that are due: the oldest first, and refused claims after all others.
std::vector<DueHandle> due_handles(postgres::Session& session, Timestamp now, std::size_t limit);

/// The result of a verification.
struct CheckedHandle {
  DueHandle claim;
  /// Nothing: a server failed, and it is to be looked up again.
  std::optional<bool> is_valid;
};

/// Writes the results of look-ups in a transaction of its own. A claim that changed meanwhile stays
/// unchanged. A claim that was repeated meanwhile is due again; only a refusal counts for it.
void write_checked_handles(postgres::Session& session, std::span<const CheckedHandle> checked,
                           Timestamp now);

/// The delay of the next look-up after a failed one: twice the age of the claim, from a minute to a
/// day.
std::chrono::microseconds handle_check_delay(Timestamp claimed_at, Timestamp now);

}  // namespace skua::writer
