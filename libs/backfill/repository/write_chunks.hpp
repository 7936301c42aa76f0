#pragma once

#include "backfill/repository/job_services.hpp"
#include "backfill/repository/unfinished_repositories.hpp"

namespace skua::backfill {

/// Passes the records of a repository to the workers in chunks, decoded as there is room for them;
/// waits for room. On a reader thread. `id`: of the repository in `services.unfinished`. False: the
/// reader threads stop.
bool write_chunks(const JobServices& services, const UnfinishedRepository& repository,
                  UnfinishedRepositories::Id id);

}  // namespace skua::backfill
