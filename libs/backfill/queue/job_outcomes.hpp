#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "backfill/backfill_counters.hpp"
#include "backfill/queue/job_end.hpp"
#include "backfill/queue/job_results.hpp"
#include "base/time.hpp"
#include "store/session.hpp"
#include "writer/purge.hpp"

namespace skua::backfill {

/// Writes how jobs ended, many in one statement, and counts them. Only a success is written
/// elsewhere: by the transaction that finishes the repository (finish_repositories). If the account
/// of a job is gone, and its stored status is `deleted`, it removes the records of the account
/// before it writes the end of the job. Owned and called by one thread.
class JobOutcomes {
 public:
  /// `lease_owner`: the owner of the jobs. `max_attempts`: then a job fails for good. The clock
  /// and the counters outlive it.
  JobOutcomes(std::string lease_owner, int max_attempts, const Clock& clock,
              BackfillCounters& counters);

  void add(const std::string& did, JobEnd end);

  /// Writes the ends that were added. Removes a bounded number of rows: the ends of accounts whose
  /// records remain are written by later calls. Throws store::SqlError, and may then be repeated.
  void write(store::Session& session);

 private:
  /// A job whose account is gone.
  struct GoneAccount {
    JobError job;
    /// Nothing: it is not known yet whether the stream has reported the deletion.
    std::optional<writer::AccountPurge> purge = std::nullopt;
  };

  void remove_gone(store::Session& session);

  const std::string lease_owner_;
  const int max_attempts_;
  const Clock& clock_;
  BackfillCounters& counters_;
  std::vector<JobHost> moved_;
  std::vector<JobError> postponed_;
  std::vector<JobError> unavailable_;
  /// They become unavailable.
  std::deque<GoneAccount> gone_;
  std::vector<JobError> failed_;
  /// Those that are not tried again.
  std::vector<JobError> failed_finally_;
};

}  // namespace skua::backfill
