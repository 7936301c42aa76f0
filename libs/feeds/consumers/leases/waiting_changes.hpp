#pragma once

#include <cstdint>
#include <vector>

#include "base/account_number.hpp"
#include "postgres/session.hpp"

namespace skua::consumers {

// Changes that wait behind a dead letter (skua.waiting_changes). All run in the transaction of the
// caller, which has locked the lane or locks it next, and throw postgres::SqlError.

/// Accounts of one lane whose changes may wait. With more of them the lane stops instead.
inline constexpr std::int64_t kMostWaitingKeys = 1'000;

/// Lets waiting changes be delivered whose dead letter an operator has handled: from the change of
/// the letter on if its replay was requested, otherwise from the next one. A requested letter
/// without waiting changes becomes one. A letter whose change the log does not have any more is
/// dead again, with the reason.
void open_waiting_changes(postgres::Session& session, std::int32_t consumer_id);

/// The accounts of a lane whose later changes wait.
std::vector<AccountNumber> read_waiting_keys(postgres::Session& session, std::int32_t consumer_id,
                                             std::int32_t lane);

/// The first waiting changes of an account, which a lease is for.
struct WaitingChanges {
  std::int64_t pos = 0;
  /// Whether only the change of one letter waits.
  bool is_single = false;
  std::int64_t letter_id = 0;
  std::int32_t attempts = 0;
};
WaitingChanges read_waiting_changes(postgres::Session& session, std::int32_t consumer_id,
                                    std::int32_t lane, AccountNumber key);

/// From now on the changes of an account from `pos` on wait for the letter of the change at `pos`.
/// False: too many accounts of the lane wait.
bool hold_changes(postgres::Session& session, std::int32_t consumer_id, std::int32_t lane,
                  AccountNumber key, std::int64_t pos, std::int64_t letter_id);

/// The changes before `next` are processed: their letter is resolved. No changes of the account
/// wait any more if the lane has not passed others.
void advance_waiting(postgres::Session& session, std::int32_t consumer_id, std::int32_t lane,
                     AccountNumber key, const WaitingChanges& waiting, std::int64_t next);

/// The first change failed again for good and is the letter `letter_id`. Later ones wait for it.
void close_waiting(postgres::Session& session, std::int32_t consumer_id, std::int32_t lane,
                   AccountNumber key, const WaitingChanges& waiting, std::int64_t letter_id);

/// The log does not have the changes from `waiting.pos` to before `oldest` any more.
void lose_waiting(postgres::Session& session, std::int32_t consumer_id, std::int32_t lane,
                  AccountNumber key, const WaitingChanges& waiting, std::int64_t oldest);

}  // namespace skua::consumers
