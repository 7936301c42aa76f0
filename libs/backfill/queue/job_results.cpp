#include "backfill/queue/job_results.hpp"

#include <algorithm>

#include "backfill/queue/job_results.sql.hpp"
#include "backfill/queue/job_table.hpp"
#include "store/error_text.hpp"

namespace skua::backfill {
namespace {

using store::column;
using store::Session;

store::Array dids_of(std::span<const JobError> jobs) {
  return column(jobs, &JobError::did);
}

store::Array reasons_of(std::span<const JobError> jobs) {
  return column(jobs, [](const JobError& job) { return store::error_text(job.reason); });
}

/// The seconds for which the host asked to wait.
store::Array asked_of(std::span<const JobError> jobs) {
  return column(jobs,
                [](const JobError& job) { return std::max<std::int64_t>(job.asked.count(), 0); });
}

}  // namespace

std::size_t set_hosts(Session& session, std::span<const JobHost> jobs,
                      const std::string& lease_owner, Timestamp now) {
  return session
      .execute(sql::backfill_jobs_set_hosts, column(jobs, &JobHost::did), lease_owner, now,
               column(jobs, &JobHost::host))
      .affected();
}

std::vector<std::string> finish_jobs(Session& session, std::span<const FinishedJob> jobs,
                                     const std::string& lease_owner, Timestamp now) {
  auto ours = session.query<std::string>(sql::backfill_jobs_finish, column(jobs, &FinishedJob::did),
                                         lease_owner, now, column(jobs, &FinishedJob::rev),
                                         column(jobs, &FinishedJob::records),
                                         column(jobs, &FinishedJob::bytes));
  std::ranges::sort(ours);
  return ours;
}

std::size_t jobs_unavailable(Session& session, std::span<const JobError> jobs,
                             const std::string& lease_owner, Timestamp now) {
  return session
      .execute(sql::backfill_jobs_unavailable, dids_of(jobs), lease_owner, now, reasons_of(jobs))
      .affected();
}

std::size_t jobs_failed(Session& session, std::span<const JobError> jobs,
                        const std::string& lease_owner, Timestamp now, int max_attempts) {
  std::vector<std::int64_t> delays;
  for (int attempt = 1; attempt <= std::max(max_attempts, 1); ++attempt) {
    delays.push_back(job_delay(attempt).count());
  }
  const auto is_abandoned =
      session.query<bool>(sql::backfill_jobs_failed, dids_of(jobs), lease_owner, now,
                          reasons_of(jobs), asked_of(jobs), delays, max_attempts);
  return static_cast<std::size_t>(std::ranges::count(is_abandoned, true));
}

std::size_t jobs_postponed(Session& session, std::span<const JobError> jobs,
                           const std::string& lease_owner, Timestamp now) {
  return session
      .execute(sql::backfill_jobs_postponed, dids_of(jobs), lease_owner, now, reasons_of(jobs),
               asked_of(jobs))
      .affected();
}

}  // namespace skua::backfill
