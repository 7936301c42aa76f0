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
  /// The listing, which has views into the CAR, or nothing if the CAR cannot be used.
  std::optional<repo::RepositoryListing> listing = std::nullopt;
  /// The reason why the CAR cannot be used, for users.
  std::string failure = {};
  /// Whether the signature is the only fault: it does not match the document, which may be out of
  /// date.
  bool has_other_key = false;
};

/// Checks a whole CAR before any part of it is written: the hash of each block, the tree, and the
/// account and the time of the commit. If the document is known, it checks the signature. The
/// commit must not be older than the stored head. It takes seconds for a large CAR.
RepositoryCheck check_repository(const FetchedRepository& fetched, Timestamp now);

/// Passes the records of a repository to the workers in chunks. It waits for room, and then decodes
/// the next records. Call it on a reader thread. `id` identifies the repository in
/// `services.unfinished`. Returns false if the reader threads stop.
bool write_chunks(const JobServices& services, const UnfinishedRepository& repository,
                  UnfinishedRepositories::Id id);

/// Runs a job from its lease to its end. It resolves the account's document, downloads the
/// repository, checks it, and writes it in chunks. Then it waits until the chunks are durable, and
/// waits for the finish. It starts on the scheduler's thread, which runs `tasks`, and continues
/// there after each wait. It checks and writes on a reader thread. The services, the scheduler and
/// the tasks outlive the job.
JobTask run_job(const JobServices& services, Scheduler& scheduler, TaskQueue& tasks,
                LeasedJob leased);

}  // namespace skua::backfill
