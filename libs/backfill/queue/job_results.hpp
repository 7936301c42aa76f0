#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "atproto/tid.hpp"
#include "backfill/queue/job_table.hpp"
#include "base/time.hpp"
#include "store/session.hpp"

namespace skua::backfill {

/// How leased jobs ended (see job_table.hpp). Each function changes only the jobs that are still
/// the owner's.

struct JobHost {
  std::string did;
  std::string host;
};

/// Sets the hosts of leased jobs, which were found or have changed. The jobs are queued again, due
/// now, and the lease does not count as an attempt. Returns how many were still the owner's.
std::size_t set_hosts(store::Session& session, std::span<const JobHost> jobs,
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
std::vector<std::string> finish_jobs(store::Session& session, std::span<const FinishedJob> jobs,
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
std::size_t jobs_unavailable(store::Session& session, std::span<const JobError> jobs,
                             const std::string& lease_owner, Timestamp now);

/// Attempts failed: the jobs are retried after `job_delay` and the wait that the host asks for, or
/// fail after `max_attempts`. Returns how many failed.
std::size_t jobs_failed(store::Session& session, std::span<const JobError> jobs,
                        const std::string& lease_owner, Timestamp now,
                        int max_attempts = kMaxAttempts);

/// The host asked to wait (429): this is not an attempt. The jobs are due after that wait. Returns
/// how many were still the owner's.
std::size_t jobs_postponed(store::Session& session, std::span<const JobError> jobs,
                           const std::string& lease_owner, Timestamp now);

}  // namespace skua::backfill
