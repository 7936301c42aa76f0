#pragma once

#include <optional>
#include <string>

#include "backfill/queue/scheduler.hpp"
#include "backfill/repository/held_car.hpp"
#include "backfill/repository/job_runner.hpp"
#include "backfill/repository/job_task.hpp"
#include "backfill/repository/unfinished_repositories.hpp"
#include "base/time.hpp"
#include "repo/repository_listing.hpp"

namespace skua::backfill {

struct RepositoryCheck {
  /// Views the CAR. Nothing: the CAR cannot be used.
  std::optional<repo::RepositoryListing> listing = std::nullopt;
  /// Why not, for people.
  std::string failure = {};
  /// Only the signature does not match the document, which may be out of date.
  bool has_other_key = false;
};

/// Checks a whole CAR before any of it is written: the hash of each block, the tree, the account
/// and the time of the commit, its signature (if the document is known), and that it is not older
/// than the stored head. Takes seconds for a large one.
RepositoryCheck check_repository(const FetchedRepository& fetched, Timestamp now);

/// Passes the records of a repository to the workers in chunks, decoded as there is room for them;
/// waits for room. On a reader thread. `id`: of the repository in `services.unfinished`. False: the
/// reader threads stop.
bool write_chunks(const JobServices& services, const UnfinishedRepository& repository,
                  UnfinishedRepositories::Id id);

/// A job from its lease to its end: resolves the account's document, downloads the repository,
/// checks it, writes it in chunks, waits until they are durable, and waits for the finish. Starts
/// on the thread that runs `tasks`, which is the scheduler's, and continues there after each wait;
/// checks and writes on a reader thread. The services, the scheduler and the tasks outlive it.
JobTask run_job(const JobServices& services, Scheduler& scheduler, TaskQueue& tasks,
                LeasedJob leased);

}  // namespace skua::backfill
