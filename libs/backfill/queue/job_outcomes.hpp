#pragma once

#include <deque>
#include <string>
#include <vector>

#include "backfill/backfill_counters.hpp"
#include "backfill/queue/job_end.hpp"
#include "backfill/queue/job_results.hpp"
#include "base/time.hpp"
#include "store/session.hpp"

namespace skua::backfill {

/// Writes how jobs ended, many in one statement, and counts them. Only a success is written
/// elsewhere: by the transaction that finishes the repository (finish_repositories). If the account
/// of a job is gone, and its stored status is `deleted`, it first begins a purge of the account.
/// Owned and called by one thread.
class JobOutcomes {
 public:
  /// `lease_owner`: the owner of the jobs. `max_attempts`: then a job fails for good. The clock
  /// and the counters outlive it.
  JobOutcomes(std::string lease_owner, int max_attempts, const Clock& clock,
              BackfillCounters& counters);

  void add(const std::string& did, JobEnd end);

  /// Writes the ends that were added. Of accounts that are gone it writes up to a hundred, and
  /// deletes up to 5,000 rows of these accounts: later calls write the others. Throws
  /// store::SqlError, and may then be repeated.
  void write(store::Session& session);

 private:
  void purge_gone(store::Session& session);

  const std::string lease_owner_;
  const int max_attempts_;
  const Clock& clock_;
  BackfillCounters& counters_;
  std::vector<JobHost> moved_;
  std::vector<JobError> postponed_;
  std::vector<JobError> unavailable_;
  /// A job whose account is gone. It becomes unavailable.
  struct Gone {
    JobError job;
    bool is_tombstoned = false;
  };
  std::deque<Gone> gone_;
  std::vector<JobError> failed_;
  /// Failed jobs that are not tried again.
  std::vector<JobError> failed_finally_;
};

}  // namespace skua::backfill
