#pragma once

#include <cstddef>
#include <vector>

#include "backfill/queue/job_table.hpp"
#include "store/session.hpp"

namespace skua::backfill {

/// Removes the jobs of repositories that are complete at the revision that a list names for them
/// (NewJob::listed), or at a later one; keeps the order of the others. Returns the number of
/// removed jobs. In the caller's transaction. Throws store::SqlError.
std::size_t leave_out_current(store::Session& session, std::vector<NewJob>& jobs);

}  // namespace skua::backfill
