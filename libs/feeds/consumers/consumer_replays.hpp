#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "consumers/letter_event.hpp"
#include "consumers/workload.hpp"
#include "postgres/session.hpp"

namespace skua::consumers {

/// Stores the change at `position` as a dead letter of its consumer, which skips the change. Runs
/// in the caller's transaction, which also moves the position of the lane. The letter keeps the
/// event that `read_event` returns. Returns the number of the letter, or nothing if the letter
/// exceeds the limits of the table, or the log does not have the change any more. Throws
/// postgres::SqlError.
std::optional<std::int64_t> write_skipped_change(postgres::Session& session,
                                                 const std::string& consumer, std::int32_t lane,
                                                 std::int64_t position, const std::string& error,
                                                 const ReadLetterEvent& read_event,
                                                 const std::string& sqlstate = {});

/// Applies the changes of dead letters whose replay an operator requested (`skua dead-letters
/// replay`). A letter is resolved in the transaction that applies its change. A change that
/// precedes the build of the present tables is already in them, so its letter is resolved without
/// applying it. If the change fails again, or the log no longer has it, the letter becomes dead
/// again, with the reason. Throws postgres::SqlError.
void replay_skipped_changes(postgres::Session& session, const Workload& workload = {});

}  // namespace skua::consumers
