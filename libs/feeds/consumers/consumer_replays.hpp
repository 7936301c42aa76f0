#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "consumers/consumer_table.hpp"
#include "postgres/session.hpp"

namespace skua::consumers {

/// What the operator does about a lane that fails, by what the last failure concerns, and what
/// happens until then. Pure.
std::string failure_cure(const Consumer& consumer, const ConsumerLane& lane);

/// Stores the change at `position` as a dead letter of its consumer, which leaves it out. In the
/// caller's transaction, which moves the position of the lane. Returns the number of the letter;
/// nothing: it is beyond the limits of the table. Throws postgres::SqlError, as all here.
std::optional<std::int64_t> write_skipped_change(postgres::Session& session,
                                                 const std::string& consumer, std::int32_t lane,
                                                 std::int64_t position, const std::string& error,
                                                 const std::string& sqlstate = {});

/// Applies the changes of dead letters whose replay an operator requested
/// (`skua dead-letters replay`). A letter is resolved in the transaction that applies its change. A
/// change from before the build of the present tables is in them already, and its letter is
/// resolved without it. If the change fails again, or the log does not have it any more, the letter
/// is dead again with the reason.
void replay_skipped_changes(postgres::Session& session);

}  // namespace skua::consumers
