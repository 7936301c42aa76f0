#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "atproto/tid.hpp"
#include "base/time.hpp"
#include "store/session.hpp"

namespace skua::backfill {

/// The queue of repositories to download: `skua.backfill_jobs`, one row for each account. This
/// header adds jobs and retries them; due_jobs.hpp finds those that are due, job_leases.hpp leases
/// them, and job_results.hpp writes how they ended. All functions run on the session's thread, in
/// the caller's transaction or each statement in its own, and throw store::SqlError. They read no
/// more rows than they return: the queue may hold tens of millions.
///
/// The lease owner of a job is the `application_name` (store::process_name, unique to
/// a process, at most 63 bytes) of a session that the process keeps open while it has jobs. The
/// lease ends with its time, or when the job is cancelled. From then on all functions ignore the
/// former owner, and its results must not be committed. While a chunk of a job is written
/// (BulkWriter) the lease cannot be taken away: a cancel waits for that transaction, and an expired
/// lease is checked again later.

/// Attempts after which a job fails.
constexpr int kMaxAttempts = 15;

/// A request for leases of jobs or lists.
struct LeaseRequest {
  std::string owner;
  Timestamp now;
  /// Long enough for an outage of the database: the jobs of a killed process are reclaimed at the
  /// next start anyway (reclaim_orphan_jobs).
  std::chrono::seconds duration = std::chrono::minutes(10);
  /// Only jobs of these accounts; empty: of all.
  std::span<const std::string> only = {};
};

/// A job to add: from a host, from a file, or (neither) from a host that is not known yet.
struct NewJob {
  std::string did;
  /// The origin, such as `https://pds.example`.
  std::optional<std::string> host = std::nullopt;
  /// A CAR file; the job then makes no request.
  std::optional<std::string> file = std::nullopt;
  /// Download only what changed after this revision.
  std::optional<atproto::Tid> since = std::nullopt;
  /// The revision that a list named.
  std::optional<atproto::Tid> listed = std::nullopt;
};

/// Whether a job that has ended is queued again.
enum class Again : std::uint8_t {
  /// A user requests it: it is queued again, whatever its state; a queued one is due now.
  Yes,
  /// A list names it: it is queued again only if the listed revision is newer than the reached one,
  /// or if it is unavailable or failed and has another host now. A cancelled job stays cancelled.
  No,
};

/// Adds jobs, due now. Returns how many were queued, new or again; a job that is queued or running
/// already does not count. `jobs` may contain a DID twice.
std::size_t add_jobs(store::Session& session, std::span<const NewJob> jobs, Again again,
                     Timestamp now);

/// How long a job waits after its nth attempt failed, n from 1: 10 s, twice as long each time, 6
/// hours at most.
std::chrono::seconds job_delay(int attempt);

/// How long an unavailable or failed job waits until it is retried: a day, twice as long each time,
/// 30 days at most, with a random quarter more or less.
inline constexpr std::chrono::hours kRareDelay{24};
inline constexpr std::chrono::hours kLongestRareDelay = 30 * kRareDelay;

/// Queues up to `limit` unavailable or failed jobs again that have waited so long, the earliest due
/// first; not those of files. A failed job gets one attempt. Returns how many.
std::size_t retry_rarely(store::Session& session, Timestamp now, std::size_t limit);

}  // namespace skua::backfill
