#pragma once

#include <chrono>
#include <optional>

#include "postgres/session.hpp"

namespace skua::postgres {

/// From this lag of a standby on, answers say that they may lack the latest records.
inline constexpr std::chrono::seconds kLateStandby{10};

/// Returns how far the rows of a standby are behind its primary, or nothing if the server is a
/// primary. A standby that has applied all WAL of its connection to the primary is not behind.
/// Otherwise its lag is the age of the last transaction that it has applied. That is too much if
/// the primary has been idle since. Throws SqlError.
std::optional<std::chrono::milliseconds> standby_lag(Session& session);

}  // namespace skua::postgres
