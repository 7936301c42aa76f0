#include "backfill/queue/job_table.hpp"

#include <algorithm>
#include <cmath>

#include "backfill/queue/job_leases.hpp"
#include "backfill/queue/job_table.sql.hpp"

namespace skua::backfill {

namespace {

using postgres::column;
using postgres::Session;

std::size_t add_some(Session& session, std::span<const NewJob> jobs, Again again, Timestamp now) {
  const postgres::Array dids = column(jobs, &NewJob::did);
  const postgres::Array hosts = column(jobs, &NewJob::host);
  const postgres::Array files = column(jobs, &NewJob::file);
  const postgres::Array since = column(jobs, &NewJob::since);
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

// The number of jobs above which the jobs of a state are estimated from a sample.
constexpr std::int64_t kCountedOneByOne = 100'000;

std::int64_t projected(std::int64_t counted, double percent) {
  return std::llround(static_cast<double>(counted) * 100.0 / percent);
}

/// A row of backfill_jobs_sample.
struct SampledJobs {
  std::string state;
  std::optional<std::string> host;
  std::int64_t jobs;
};

/// A row of backfill_jobs_few.
struct FewJobs {
  std::string state;
  std::int64_t jobs;
};

/// A row of backfill_jobs_errors.
struct RecentError {
  std::string state;
  std::string reason;
  std::int64_t jobs;
  Timestamp last;
};

void count_sampled(Session& session, JobCounts& counts, std::size_t hosts, double percent) {
  const auto sample = session.query<SampledJobs>(sql::backfill_jobs_sample, percent);
  std::map<std::string, HostCounts, std::less<>> by_host;
  for (const SampledJobs& sampled : sample) {
    const JobState state = job_state(sampled.state).value();
    const std::int64_t jobs = projected(sampled.jobs, percent);
    counts.by_state[state] += jobs;
    if (!sampled.host) continue;
    HostCounts& host = by_host[*sampled.host];
    switch (state) {
      case JobState::Queued:
        host.queued += jobs;
        break;
      case JobState::Running:
        host.running += jobs;
        break;
      case JobState::Done:
        host.done += jobs;
        break;
      case JobState::Unavailable:
      case JobState::Failed:
      case JobState::Cancelled:
        host.ended_otherwise += jobs;
        break;
    }
  }
  for (auto& [name, host] : by_host) {
    host.host = name;
    counts.hosts.push_back(std::move(host));
  }
  const auto weight = [](const HostCounts& host) {
    const std::int64_t to_do = host.queued + host.running;
    return std::pair(-to_do, -(to_do + host.done + host.ended_otherwise));
  };
  std::stable_sort(counts.hosts.begin(), counts.hosts.end(),
                   [&](const auto& a, const auto& b) { return weight(a) < weight(b); });
  counts.hosts.resize(std::min(hosts, counts.hosts.size()));
}

}  // namespace

std::size_t add_jobs(Session& session, std::span<const NewJob> jobs, Again again, Timestamp now) {
  // The limit bounds the memory of a statement.
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

JobCounts job_counts(Session& session, std::size_t hosts, std::int64_t sampled_blocks) {
  JobCounts counts;
  const std::int64_t blocks = session.query_one<std::int64_t>(sql::backfill_jobs_blocks);
  counts.exact = blocks <= sampled_blocks;
  const double percent =
      counts.exact ? 100.0
                   : 100.0 * static_cast<double>(sampled_blocks) / static_cast<double>(blocks);
  count_sampled(session, counts, hosts, percent);

  for (const FewJobs& few : session.query<FewJobs>(sql::backfill_jobs_few, kCountedOneByOne)) {
    if (few.jobs < kCountedOneByOne) counts.by_state[job_state(few.state).value()] = few.jobs;
  }
  std::erase_if(counts.by_state, [](const auto& state) { return state.second == 0; });

  counts.next_due = next_due(session);
  for (RecentError& error : session.query<RecentError>(sql::backfill_jobs_errors)) {
    counts.errors.push_back(
        {job_state(error.state).value(), std::move(error.reason), error.jobs, error.last});
  }
  return counts;
}

std::int64_t jobs_ended_since(Session& session, JobState state, Timestamp since) {
  return session.query_one<std::int64_t>(sql::backfill_jobs_ended_since, to_string(state), since);
}

}  // namespace skua::backfill
