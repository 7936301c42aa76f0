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

// The owner of a handle (atproto.com/specs/handle). The claimed handle of an account and the handle
// that the account has are stored separately. The account of the latest claim gets a handle at
// once, unless a look-up has confirmed the handle for another account. A look-up that leads back to
// the account confirms its claim. If a look-up has confirmed a handle for another account, a new
// claim needs a look-up that confirms the new claim. A refused claim stays refused until a look-up
// confirms it, even if the account repeats the claim. In any order of claims and look-ups, the
// right account has the handle in the end.
//
// An account gets ten look-ups at once and then one in five minutes; refused claims are looked up
// after all others.

/// The claim of a handle by an account.
struct HandleClaim {
  AccountNumber actor_id = 0;
  /// Empty if the account claims no handle.
  std::string handle;
  /// The time of the event that contains the claim.
  Timestamp time;
};

/// Writes claims in the caller's transaction, at most one for each account. The newest claim of an
/// account wins. Returns the number of rows written. Throws SqlError, like all functions of this
/// file.
std::size_t write_handle_claims(postgres::Session& session, std::span<const HandleClaim> claims,
                                Timestamp now, Effects& effects);

/// A claim that must be looked up.
struct DueHandle {
  AccountNumber actor_id = 0;
  std::string did;
  std::string handle;
  /// The time from which the claim is due. It distinguishes the claim from a later, equal claim.
  Timestamp due;
  /// The time at which the account made the claim.
  Timestamp claimed_at;
};

/// Returns the claims that are due: the oldest first, and refused claims after all others.
std::vector<DueHandle> due_handles(postgres::Session& session, Timestamp now, std::size_t limit);

/// The result of a verification.
struct CheckedHandle {
  DueHandle claim;
  /// Nothing if a server failed. The handle must then be looked up again.
  std::optional<bool> is_valid;
};

/// Writes the results of look-ups in a transaction of its own. A claim that changed since the
/// look-up began stays unchanged. A claim that was repeated since then is due again, and only a
/// refusal counts for it.
void write_checked_handles(postgres::Session& session, std::span<const CheckedHandle> checked,
                           Timestamp now);

/// Returns the delay of the next look-up after a failed look-up: twice the age of the claim, from a
/// minute to a day.
std::chrono::microseconds handle_check_delay(Timestamp claimed_at, Timestamp now);

}  // namespace skua::writer
