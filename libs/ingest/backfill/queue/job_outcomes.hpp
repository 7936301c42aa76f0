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

/// The job was cancelled or has another lease owner, so nothing of it is written.
struct JobLost {};

/// This process stops. The job keeps its lease, and the stop queues the job again as if it had
/// never begun.
struct JobStopped {};

/// The account has another host, so the job is queued at that host. This does not count as an
/// attempt.
struct JobMoved {
  std::string host;
};

/// The host does not provide the repository.
struct JobUnavailable {
  /// The reason for users.
  std::string reason;
  /// Whether the host that the account's document names has no such repository, or the DID is
  /// tombstoned. If the stream has reported the deletion of the account, the records of the account
  /// are then removed.
  bool is_gone = false;
  /// Whether the DID is tombstoned. The account then counts as deleted, even if the stream reports
  /// another status.
  bool is_tombstoned = false;
};

/// The job waits for the host or for disk space. This does not count as an attempt.
struct JobPostponed {
  /// The reason for users.
  std::string reason;
  std::chrono::seconds wait;
};

struct JobFailed {
  /// The reason for users.
  std::string reason;
  /// The time that the host asks to wait, besides the delay between attempts.
  std::chrono::seconds wait{0};
  /// Whether another attempt cannot succeed, because the source is a file, which does not change,
  /// or because the database does not own the group of the account.
  bool is_final = false;
};

/// The way in which a job ended.
using JobEnd =
    std::variant<JobDone, JobLost, JobStopped, JobMoved, JobUnavailable, JobPostponed, JobFailed>;

/// These functions write how leased jobs ended (see job_table.hpp). Each function changes only the
/// jobs whose lease the owner still has.

struct JobHost {
  std::string did;
  std::string host;
};

/// Sets the hosts of leased jobs, which were found or have changed. The jobs are queued again, due
/// now, and the lease does not count as an attempt. Returns how many jobs the owner still had.
std::size_t set_hosts(postgres::Session& session, std::span<const JobHost> jobs,
                      const std::string& lease_owner, Timestamp now);

struct FinishedJob {
  std::string did;
  /// The revision of the downloaded repository.
  atproto::Tid rev;
  std::int64_t records = 0;
  std::int64_t bytes = 0;
};

/// Marks jobs as done, in the transaction that finishes their repositories. Returns the DIDs of the
/// jobs that the owner still had, sorted. Nothing of the other jobs may be committed.
std::vector<std::string> finish_jobs(postgres::Session& session, std::span<const FinishedJob> jobs,
                                     const std::string& lease_owner, Timestamp now);

/// The reason why a job did not succeed, for users.
struct JobError {
  std::string did;
  std::string reason;
  /// The time that the host asks to wait.
  std::chrono::seconds asked{0};
};

/// Marks jobs as unavailable, because the host has refused the repositories. They are retried
/// rarely (retry_rarely), and when the account is active again (writer::write_account_changes).
/// Returns how many jobs the owner still had.
std::size_t jobs_unavailable(postgres::Session& session, std::span<const JobError> jobs,
                             const std::string& lease_owner, Timestamp now);

/// Reports failed attempts. The jobs are retried after `job_delay` and the wait that the host asks
/// for, or fail after `max_attempts`. Returns how many failed.
std::size_t jobs_failed(postgres::Session& session, std::span<const JobError> jobs,
                        const std::string& lease_owner, Timestamp now,
                        int max_attempts = kMaxAttempts);

/// Makes jobs due after the wait for which the host asked (429). This does not count as an attempt.
/// Returns how many jobs the owner still had.
std::size_t jobs_postponed(postgres::Session& session, std::span<const JobError> jobs,
                           const std::string& lease_owner, Timestamp now);

/// Writes how jobs ended, many in one statement, and counts them. Only the transaction that
/// finishes the repository writes a success (finish_repositories). If the account of a job is gone,
/// and its stored status is `deleted`, it first begins a purge of the account. One thread owns and
/// calls it.
class JobOutcomes {
 public:
  /// `lease_owner` is the owner of the jobs. `max_attempts` is the number of attempts after which a
  /// job fails permanently. The clock and the counters outlive the object.
  JobOutcomes(std::string lease_owner, int max_attempts, const Clock& clock,
              BackfillCounters& counters);

  void add(const std::string& did, JobEnd end);

  /// Writes the ends that were added. Of accounts that are gone it writes up to a hundred, and
  /// deletes up to 5,000 rows of these accounts. Later calls write the remaining ones. Throws
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
  /// A job whose account is gone. The job becomes unavailable.
  struct Gone {
    JobError job;
    bool is_tombstoned = false;
  };
  std::deque<Gone> gone_;
  std::vector<JobError> failed_;
  /// Failed jobs that are not attempted again.
  std::vector<JobError> failed_finally_;
};

}  // namespace skua::backfill
