#pragma once

#include <cstddef>

#include "backfill/queue/job_commands.hpp"
#include "base/time.hpp"
#include "store/session.hpp"

namespace skua::backfill {

// The effect of `skua backfill retry` and `cancel` on lists of backfills (host_table.hpp). A list
// has the state of a job: queued while no page of it is being read, running while one is, done
// after its end was read, failed or cancelled. A filter that names accounts selects no list. Both
// throw store::SqlError.

/// Queues lists again, due now, from the page that was not read; returns their number. Without
/// states: lists that wait after a failure, and lists that have failed permanently.
std::size_t retry_lists(store::Session& session, const JobFilter& filter, Timestamp now);

/// Cancels lists; returns their number. Without states: queued and running lists. A process that is
/// reading a page of a cancelled list discards it. Repositories that were queued by earlier pages
/// stay.
std::size_t cancel_lists(store::Session& session, const JobFilter& filter, Timestamp now);

}  // namespace skua::backfill
