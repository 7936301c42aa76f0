#pragma once

#include <cstddef>
#include <vector>

#include "backfill/queue/job_table.hpp"
#include "store/session.hpp"

namespace skua::backfill {

/// Removes the jobs of repositories that are stored whole as of the revision that a list names for
/// them (NewJob::listed), or a later one; keeps the order of the others. Returns how many it
/// removed. In the caller's transaction. Throws store::SqlError.
std::size_t leave_out_current(store::Session& session, std::vector<NewJob>& jobs);

}  // namespace skua::backfill
