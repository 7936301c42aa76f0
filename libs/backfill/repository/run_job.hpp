#pragma once

#include "backfill/queue/scheduler.hpp"
#include "backfill/repository/job_services.hpp"
#include "backfill/repository/job_task.hpp"
#include "backfill/repository/task_queue.hpp"

namespace skua::backfill {

/// A job from its lease to its end: resolves the account's document, downloads the repository,
/// checks it, writes it in chunks, waits until they are durable, and waits for the finish. Starts
/// on the thread that runs `tasks`, which is the scheduler's, and continues there after each wait;
/// checks and writes on a reader thread. The services, the scheduler and the tasks outlive it.
JobTask run_job(const JobServices& services, Scheduler& scheduler, TaskQueue& tasks,
                LeasedJob leased);

}  // namespace skua::backfill
