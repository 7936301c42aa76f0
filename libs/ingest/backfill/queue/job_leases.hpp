#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "atproto/tid.hpp"
#include "backfill/queue/job_table.hpp"
#include "base/time.hpp"
#include "postgres/session.hpp"
#include "tables/filter_table.hpp"
#include "transport/http_client.hpp"

namespace skua::backfill {

/// These functions lease jobs (see job_table.hpp).

/// A job fails after this number of processes in a row have crashed while they had the job.
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
  /// The number of this lease of the job, from 1. No other lease of the job has it.
  std::int64_t lease_number = 0;
};

/// The place of the jobs to lease: one host, an unknown host, or files.
struct Place {
  enum class Kind : std::uint8_t { Host, Unknown, File };
  Kind kind = Kind::Unknown;
  std::string host;

  static Place at(std::string host) { return {Kind::Host, std::move(host)}; }
  static Place unknown() { return {Kind::Unknown, {}}; }
  static Place file() { return {Kind::File, {}}; }
};

/// Leases up to `limit` due jobs of a place, the earliest due first. It skips jobs that another
/// session is leasing now. Commit before the download begins, because the running job keeps
/// tombstones (tables::save_cursor) until it has ended. The result has no order.
std::vector<Job> lease_jobs(postgres::Session& session, const Place& place, std::size_t limit,
                            const JobLeaseRequest& request);

/// Extends all leases of the lease owner that have not expired. Returns their number.
std::size_t renew_leases(postgres::Session& session, const JobLeaseRequest& request);

/// Queues the owner's jobs again at their old position, as if they had never been leased, for a
/// clean stop. Returns their number.
std::size_t release_jobs(postgres::Session& session, const std::string& lease_owner);

/// Queues jobs with expired leases again, which does not count as an attempt. One of these jobs may
/// have crashed its process, and must not do so for ever. Therefore, from the third time in a row,
/// each job waits 10 s, twice as long each time, an hour at most, so that other jobs are processed
/// before it. A job that was lost `most_lost` times fails. Returns how many leases were reclaimed.
std::size_t reclaim_expired_jobs(postgres::Session& session, Timestamp now,
                                 int most_lost = kMostLost);

/// Does the same for jobs whose lease owner has no session on this database, although the lease has
/// not expired. It is for the start of a process, because the former process may have been killed a
/// moment ago. A lease owner that lost only its connections loses its jobs, too, and notices this
/// when it ends them.
std::size_t reclaim_orphan_jobs(postgres::Session& session, Timestamp now,
                                int most_lost = kMostLost);

/// A leased job, and the stored state of its account at its beginning.
struct LeasedJob {
  Job job;
  /// The time at which the job got a slot of its host (HostLimits::started).
  Timestamp started_at;
  /// Whether the network or the operator named the host of the job.
  transport::HostOrigin host_origin = transport::HostOrigin::network;
  /// The revision of the stored head. An older CAR may contain records that were deleted after it.
  std::optional<atproto::Tid> known;
  /// Whether the whole repository is needed, and not only the changes since a revision.
  bool wants_whole = false;
  /// The filter that selects the records to store, and its version at that time
  /// (FilterState::settled).
  std::shared_ptr<const tables::Filter> filter;
  std::int64_t filter_version = 0;
  /// Whether the account has a group that the database does not own. Such a job was queued with
  /// SQL, or before the groups were stated.
  bool is_foreign = false;
};

/// The following functions find jobs that are due or open (see job_table.hpp).

/// Returns up to `limit` hosts with due jobs, sorted by name, that follow `after`, so that the
/// caller can go through them in turn. It reads one row for each host with queued jobs.
std::vector<std::string> due_hosts(postgres::Session& session, Timestamp now, std::size_t limit,
                                   const std::string& after = {});

/// Returns the hosts with due jobs of these accounts, sorted by name.
std::vector<std::string> due_hosts_of(postgres::Session& session, std::span<const std::string> dids,
                                      Timestamp now);

/// Returns the time at which the first queued job is or was due, or nothing if no job is queued.
std::optional<Timestamp> next_due(postgres::Session& session);

/// Whether any job is queued or running.
bool jobs_remain(postgres::Session& session);
/// Whether any job of these accounts is queued or running.
bool jobs_remain_of(postgres::Session& session, std::span<const std::string> dids);

/// Returns the DIDs with a running job of any lease owner, in no order.
std::vector<std::string> running_jobs(postgres::Session& session,
                                      std::span<const std::string> dids);

}  // namespace skua::backfill
