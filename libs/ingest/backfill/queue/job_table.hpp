#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "atproto/tid.hpp"
#include "backfill/queue/job_commands.hpp"
#include "base/time.hpp"
#include "postgres/session.hpp"

namespace skua::backfill {

/// The queue of repositories to download: `skua.backfill_jobs`, one row for each account. This
/// header adds jobs and retries them. job_leases.hpp finds the jobs that are due and leases them,
/// and job_outcomes.hpp writes how they ended. All functions run on the session's thread, in the
/// caller's transaction or each statement in its own, and throw postgres::SqlError. They read no
/// more rows than they return, because the queue may hold tens of millions.
///
/// The lease owner of a job is the `application_name` (postgres::process_name, unique to a process,
/// at most 63 bytes) of a session that the process keeps open while it has jobs. The lease ends
/// with its time, or when the job is cancelled. After its end all functions ignore the former
/// owner, and the results of this owner must not be committed. The lease cannot be taken away while
/// a chunk of the job is written (BulkWriter): a cancel waits for that transaction, and an expired
/// lease is checked again later.

/// The number of attempts after which a job fails.
constexpr int kMaxAttempts = 15;

/// A request for leases of jobs or lists.
struct JobLeaseRequest {
  std::string owner;
  Timestamp now;
  /// The time is long enough for an outage of the database. The next start reclaims the jobs of a
  /// killed process earlier (reclaim_orphan_jobs).
  std::chrono::seconds duration = std::chrono::minutes(10);
  /// If it is not empty, only the jobs of these accounts are leased.
  std::span<const std::string> only = {};
};

/// A job to add. It is from a host, from a file, or, without both, from a host that is not known
/// yet.
struct NewJob {
  std::string did;
  /// The origin, such as `https://pds.example`.
  std::optional<std::string> host = std::nullopt;
  /// A CAR file. A job with a file makes no request.
  std::optional<std::string> file = std::nullopt;
  /// The revision after which the changes are downloaded. Without it, the job downloads the whole
  /// repository.
  std::optional<atproto::Tid> since = std::nullopt;
  /// The revision that a list named.
  std::optional<atproto::Tid> listed = std::nullopt;
};

/// Whether a job that has ended is queued again.
enum class Again : std::uint8_t {
  /// A user requests the job. It is queued again, whatever its state is. If it is queued, it
  /// becomes due now.
  Yes,
  /// A list names the job. It is queued again only if the listed revision is newer than the reached
  /// revision, or if it is unavailable or failed and has another host now. A cancelled job stays
  /// cancelled.
  No,
};

/// Adds jobs, due now. Returns how many were queued, new or again. A job that is already queued or
/// running does not count. `jobs` may contain a DID twice.
std::size_t add_jobs(postgres::Session& session, std::span<const NewJob> jobs, Again again,
                     Timestamp now);

/// Returns the wait of a job after its nth attempt failed, n from 1: 10 s, twice as long each time,
/// 6 hours at most.
std::chrono::seconds job_delay(int attempt);

/// The wait of an unavailable or failed job until it is retried: a day, twice as long each time, 30
/// days at most, with a random quarter more or less.
inline constexpr std::chrono::hours kRareDelay{24};
inline constexpr std::chrono::hours kLongestRareDelay = 30 * kRareDelay;

/// Queues up to `limit` unavailable or failed jobs again whose wait is over, the earliest due
/// first. Jobs of files are not queued. A failed job gets one attempt. Returns the number of queued
/// jobs.
std::size_t retry_rarely(postgres::Session& session, Timestamp now, std::size_t limit);

/// The numbers of jobs of a host by state.
struct HostCounts {
  std::string host;
  std::int64_t queued = 0;
  std::int64_t running = 0;
  std::int64_t done = 0;
  /// The number of unavailable, failed or cancelled jobs.
  std::int64_t ended_otherwise = 0;
};

/// A recent error of jobs.
struct ErrorCount {
  JobState state = JobState::Failed;
  std::string reason;
  std::int64_t jobs = 0;
  /// The time at which the error occurred last.
  Timestamp last;
};

/// A summary of the queue, for users.
struct JobCounts {
  /// Whether the numbers are counted. Otherwise they are estimated from a part of the table.
  bool exact = true;
  std::map<JobState, std::int64_t> by_state;
  /// The hosts with the most queued and running jobs, then with the most jobs.
  std::vector<HostCounts> hosts;
  /// The time at which the first queued job is or was due, or nothing if no job is queued.
  std::optional<Timestamp> next_due;
  /// The errors of the last thousand jobs of each state, the most frequent first. For queued jobs,
  /// the error is the reason of their wait.
  std::vector<ErrorCount> errors;
};

/// Returns a summary with bounded work. A table of more than `sampled_blocks` blocks (8 kB, about
/// 50 jobs) is estimated from that many random blocks. Running, unavailable and failed jobs are
/// counted exactly up to 100,000, so that a single failure is visible. It takes at most about 100
/// ms if the blocks are in memory. Throws SqlError.
JobCounts job_counts(postgres::Session& session, std::size_t hosts,
                     std::int64_t sampled_blocks = 4000);

/// Returns how many jobs have ended in this state, with an error, since `since`.
std::int64_t jobs_ended_since(postgres::Session& session, JobState state, Timestamp since);

}  // namespace skua::backfill
