#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/account_number.hpp"
#include "postgres/session.hpp"

namespace skua::consumers {

// The functions of this file treat changes that wait behind a dead letter (skua.waiting_changes).
// All run in the transaction of the caller, which has locked the lane or locks it next, and throw
// postgres::SqlError.

/// The maximum number of accounts of one lane whose changes wait. If there would be more, the lane
/// stops.
inline constexpr std::int64_t kMostWaitingKeys = 1'000;

/// Opens waiting changes for delivery after an operator has handled their dead letter. Delivery
/// begins with the change of the letter if its replay was requested, otherwise with the next
/// change. If a requested letter has no waiting changes, its change becomes a waiting change. If
/// neither the log nor the letter has the change any more, the letter becomes dead again, with the
/// reason.
void open_waiting_changes(postgres::Session& session, std::int32_t consumer_id);

/// Returns the accounts of a lane whose later changes wait.
std::vector<AccountNumber> read_waiting_keys(postgres::Session& session, std::int32_t consumer_id,
                                             std::int32_t lane);

/// The first waiting changes of an account. A lease covers them.
struct WaitingChanges {
  std::int64_t pos = 0;
  /// True if only the change of one letter waits.
  bool is_single = false;
  std::int64_t letter_id = 0;
  std::int32_t attempts = 0;
};
WaitingChanges read_waiting_changes(postgres::Session& session, std::int32_t consumer_id,
                                    std::int32_t lane, AccountNumber key);

/// A change that its dead letter has kept.
struct LetterChange {
  /// The timeline of the position of the change.
  std::int32_t timeline = 0;
  /// The event of the change (LetterEvent), in JSON.
  std::string event;
};
/// Returns the change at `pos`, the first of the waiting changes, if it is replayed and only its
/// letter has it: the log has dropped it, or has another timeline.
std::optional<LetterChange> read_letter_change(postgres::Session& session, std::int32_t consumer_id,
                                               std::int32_t lane, AccountNumber key,
                                               std::int64_t pos);

/// Lets the changes of an account from `pos` on wait for the letter of the change at `pos`. Returns
/// false if too many accounts of the lane wait.
bool hold_changes(postgres::Session& session, std::int32_t consumer_id, std::int32_t lane,
                  AccountNumber key, std::int64_t pos, std::int64_t letter_id);

/// Stores that the changes before `next` are processed, and resolves their letter. If the lane has
/// not passed a change from `next` on, no change of the account waits any more.
void advance_waiting(postgres::Session& session, std::int32_t consumer_id, std::int32_t lane,
                     AccountNumber key, const WaitingChanges& waiting, std::int64_t next);

/// Stores that the first change failed again, is not tried again, and became the letter
/// `letter_id`. Later changes of the account wait for this letter.
void close_waiting(postgres::Session& session, std::int32_t consumer_id, std::int32_t lane,
                   AccountNumber key, const WaitingChanges& waiting, std::int64_t letter_id);

/// Handles the loss of the changes from `waiting.pos` to before `oldest`, which the log no longer
/// has.
void lose_waiting(postgres::Session& session, std::int32_t consumer_id, std::int32_t lane,
                  AccountNumber key, const WaitingChanges& waiting, std::int64_t oldest);

}  // namespace skua::consumers
