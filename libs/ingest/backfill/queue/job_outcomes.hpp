#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "atproto/tid.hpp"
#include "backfill/backfill_counters.hpp"
#include "backfill/queue/job_table.hpp"
#include "base/time.hpp"
#include "postgres/session.hpp"

namespace skua::backfill {

/// The repository is finished. The transaction that finished it has marked the job as done.
struct JobDone {};

/// The job was cancelled or has another lease owner: nothing of it is written.
struct JobLost {};

/// This process stops. The job keeps its lease; the stop queues it again as if it had never begun.
struct JobStopped {};

/// The account has another host: the job is queued there. Not an attempt.
struct JobMoved {
  std::string host;
};

/// The host does not give the repository out.
struct JobUnavailable {
  /// For people.
  std::string reason;
  /// The host that the account's document names has no such repository, or the DID is tombstoned.
  /// If the stream has reported the deletion of the account, its records are removed.
  bool is_gone = false;
  /// The DID is tombstoned: the account counts as deleted, whatever the stream says.
  bool is_tombstoned = false;
};

/// The job waits for the host or for disk space. Not an attempt.
struct JobPostponed {
  /// For people.
  std::string reason;
  std::chrono::seconds wait;
};

struct JobFailed {
  /// For people.
  std::string reason;
  /// How long the host asks to wait, besides the delay between attempts.
  std::chrono::seconds wait{0};
  /// Another attempt would not help: a file stays as it is.
  bool is_final = false;
};

/// How a job ended.
using JobEnd =
    std::variant<JobDone, JobLost, JobStopped, JobMoved, JobUnavailable, JobPostponed, JobFailed>;

/// How leased jobs ended (see job_table.hpp). Each function changes only the jobs that are still
/// the owner's.

struct JobHost {
  std::string did;
  std::string host;
};

/// Sets the hosts of leased jobs, which were found or have changed. The jobs are queued again, due
/// now, and the lease does not count as an attempt. Returns how many were still the owner's.
std::size_t set_hosts(postgres::Session& session, std::span<const JobHost> jobs,
                      const std::string& lease_owner, Timestamp now);

struct FinishedJob {
  std::string did;
  /// The revision of the downloaded repository.
  atproto::Tid rev;
  std::int64_t records = 0;
  std::int64_t bytes = 0;
};

/// Marks jobs as done; in the transaction that finishes their repositories. Returns the DIDs,
/// sorted, of those that were still the owner's: nothing of the others must be committed.
std::vector<std::string> finish_jobs(postgres::Session& session, std::span<const FinishedJob> jobs,
                                     const std::string& lease_owner, Timestamp now);

/// Why a job did not succeed, for people.
struct JobError {
  std::string did;
  std::string reason;
  /// How long the host asks to wait.
  std::chrono::seconds asked{0};
};

/// The host has refused the repositories: the jobs are unavailable. They are retried rarely
/// (retry_rarely), and when the account is active again (writer::write_account_changes). Returns
/// how many were still the owner's.
std::size_t jobs_unavailable(postgres::Session& session, std::span<const JobError> jobs,
                             const std::string& lease_owner, Timestamp now);

/// Attempts failed: the jobs are retried after `job_delay` and the wait that the host asks for, or
/// fail after `max_attempts`. Returns how many failed.
std::size_t jobs_failed(postgres::Session& session, std::span<const JobError> jobs,
                        const std::string& lease_owner, Timestamp now,
                        int max_attempts = kMaxAttempts);

/// The host asked to wait (429): this is not an attempt. The jobs are due after that wait. Returns
/// how many were still the owner's.
std::size_t jobs_postponed(postgres::Session& session, std::span<const JobError> jobs,
                           const std::string& lease_owner, Timestamp now);

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
  /// postgres::SqlError, and may then be repeated.
  void write(postgres::Session& session);

 private:
  void purge_gone(postgres::Session& session);

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
