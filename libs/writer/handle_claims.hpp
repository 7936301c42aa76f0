#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "store/session.hpp"

namespace skua::writer {

// Who has a handle (atproto.com/specs/handle). What an account claims is one thing, what it has
// another: a claim counts until it is looked up, and of several the latest; once one was seen to
// lead back to its account it alone counts. Every contest lets all who are part of it be looked up
// again, so that in whatever order claims and checks come, who is right has the handle in the end.

/// That an account claims a handle.
struct HandleClaim {
  std::int32_t actor_id = 0;
  /// Empty: it claims none.
  std::string handle;
  /// Of the event that says so.
  Timestamp time;
};

/// Writes claims, one an account, in the caller's transaction; the newest of an account wins.
/// Returns the number of rows written. Throws SqlError, as all here.
std::size_t write_handle_claims(store::Session& session, std::span<const HandleClaim> claims,
                                Timestamp now);

/// A claim that is to be looked up.
struct DueHandle {
  std::int32_t actor_id = 0;
  std::string did;
  std::string handle;
  /// Since when: tells a claim from the same one made anew meanwhile.
  Timestamp due;
  /// When it was made.
  Timestamp claimed_at;
};

/// Those that are due, the oldest first.
std::vector<DueHandle> due_handles(store::Session& session, Timestamp now, std::size_t limit);

/// What came of a look-up.
struct CheckedHandle {
  DueHandle claim;
  /// Nothing: a server failed, and it is to be looked up again.
  std::optional<bool> is_valid;
};

/// Writes what look-ups found, in a transaction of its own. A claim that was changed or contested
/// meanwhile is left as it is: it is due again.
void write_checked_handles(store::Session& session, std::span<const CheckedHandle> checked,
                           Timestamp now);

/// How long after a look-up that failed the next one comes: twice the age that the claim has, from
/// a minute to a day.
std::chrono::microseconds handle_check_delay(Timestamp claimed_at, Timestamp now);

}  // namespace skua::writer
