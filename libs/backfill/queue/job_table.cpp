#include "backfill/queue/job_table.hpp"

#include <algorithm>

#include "backfill/queue/job_table.sql.hpp"

namespace skua::backfill {
namespace {

using store::column;
using store::Session;

std::size_t add_some(Session& session, std::span<const NewJob> jobs, Again again, Timestamp now) {
  const store::Array dids = column(jobs, &NewJob::did);
  const store::Array hosts = column(jobs, &NewJob::host);
  const store::Array files = column(jobs, &NewJob::file);
  const store::Array since = column(jobs, &NewJob::since);
  const bool is_requested = again == Again::Yes;
  std::size_t queued =
      session.execute(sql::backfill_jobs_insert, dids, hosts, files, since, now).affected();
  if (queued == jobs.size()) return queued;
  queued += session
                .execute(sql::backfill_jobs_again, dids, hosts, files, since, now, is_requested,
                         column(jobs, &NewJob::listed))
                .affected();
  if (is_requested) session.execute(sql::backfill_jobs_hurry, dids, now);
  return queued;
}

}  // namespace

std::size_t add_jobs(Session& session, std::span<const NewJob> jobs, Again again, Timestamp now) {
  // Bounds the memory of a statement.
  constexpr std::size_t kAtOnce = 10'000;
  std::size_t queued = 0;
  for (std::size_t begin = 0; begin < jobs.size(); begin += kAtOnce) {
    queued +=
        add_some(session, jobs.subspan(begin, std::min(kAtOnce, jobs.size() - begin)), again, now);
  }
  return queued;
}

std::chrono::seconds job_delay(int attempt) {
  constexpr std::chrono::seconds kFirst{10};
  constexpr std::chrono::seconds kLongest = std::chrono::hours(6);
  return std::min<std::chrono::seconds>(kFirst * (1 << std::clamp(attempt - 1, 0, 12)), kLongest);
}

std::size_t retry_rarely(Session& session, Timestamp now, std::size_t limit) {
  return session.execute(sql::backfill_jobs_retry_rarely, now, limit).affected();
}

}  // namespace skua::backfill
