#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "atproto/tid.hpp"
#include "backfill/queue/job_table.hpp"
#include "base/time.hpp"
#include "store/session.hpp"

namespace skua::backfill {

/// Leases of jobs (see job_table.hpp).

/// A job fails after so many processes in a row have crashed while they had it.
constexpr int kMostLost = 30;

/// A leased job.
struct Job {
  std::string did;
  std::optional<std::string> host;
  std::optional<std::string> file;
  std::optional<atproto::Tid> since;
  /// The revision that an earlier job reached.
  std::optional<atproto::Tid> rev;
  /// The number of this attempt, from 1.
  int attempt = 0;
  /// The number of this lease of the job, from 1. It is never used again.
  std::int64_t lease_number = 0;
};

/// Which jobs to lease: those of one host, those whose host is not known yet, or those of files.
struct Place {
  enum class Kind : std::uint8_t { Host, Unknown, File };
  Kind kind = Kind::Unknown;
  std::string host;

  static Place at(std::string host) { return {Kind::Host, std::move(host)}; }
  static Place unknown() { return {Kind::Unknown, {}}; }
  static Place file() { return {Kind::File, {}}; }
};

/// Leases up to `limit` due jobs of a place, the earliest due first. Skips jobs that another
/// session is leasing at this moment. Commit before the download begins: the running job keeps
/// tombstones (store::save_cursor) until it has ended. The result has no order.
std::vector<Job> lease_jobs(store::Session& session, const Place& place, std::size_t limit,
                            const LeaseRequest& request);

/// Extends all leases of the lease owner that have not expired; returns how many.
std::size_t renew_leases(store::Session& session, const LeaseRequest& request);

/// For a clean stop: queues the owner's jobs again at their place, as if never leased.
std::size_t release_jobs(store::Session& session, const std::string& lease_owner);

/// Queues jobs with expired leases again; this does not count as an attempt. One of them may have
/// crashed its process, and must not do so for ever: from the third time in a row each job waits 10
/// s, twice as long each time, an hour at most, so that other jobs are processed meanwhile. A job
/// that was lost `most_lost` times fails. Returns how many leases were reclaimed.
std::size_t reclaim_expired_jobs(store::Session& session, Timestamp now, int most_lost = kMostLost);

/// The same for jobs whose lease owner has no session on this database, although the lease has not
/// expired. For the start of a process: the former one may have been killed a moment ago. A lease
/// owner that lost only its connections loses its jobs too, and notices when it ends them.
std::size_t reclaim_orphan_jobs(store::Session& session, Timestamp now, int most_lost = kMostLost);

}  // namespace skua::backfill
