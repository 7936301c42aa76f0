#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "base/time.hpp"
#include "store/session.hpp"

namespace skua::backfill {

/// Queues the repositories of these accounts, except those that are complete, and those that have
/// or had a job: a cancelled job stays cancelled. Excluded accounts are left out. Returns how many
/// jobs are new. Throws SqlError.
std::size_t queue_signal_accounts(store::Session& session, std::span<const std::string> dids,
                                  Timestamp now);

}  // namespace skua::backfill
