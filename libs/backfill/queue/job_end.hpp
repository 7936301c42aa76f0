#pragma once

#include <chrono>
#include <string>
#include <variant>

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

}  // namespace skua::backfill
