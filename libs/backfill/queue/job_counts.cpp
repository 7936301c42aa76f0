#include "backfill/queue/job_counts.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "backfill/queue/due_jobs.hpp"
#include "backfill/queue/job_counts.sql.hpp"

namespace skua::backfill {
namespace {

using store::Params;
using store::Rows;
using store::Session;
using store::Statement;

// Beyond this many a state is projected, as the others are.
constexpr std::int64_t kCountedOneByOne = 100'000;

std::int64_t projected(std::int64_t counted, double percent) {
  return std::llround(static_cast<double>(counted) * 100.0 / percent);
}

void count_sampled(Session& session, JobCounts& counts, std::size_t hosts, double percent) {
  // One pass: each (state, host) of the sample.
  const Rows rows = session.run(
      fmt::format("SELECT state, host, count(*) FROM skua.backfill_jobs TABLESAMPLE SYSTEM ({}) "
                  "GROUP BY state, host",
                  percent));
  std::map<std::string, HostCounts, std::less<>> by_host;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const JobState state = job_state(rows.text(i, 0)).value();
    const std::int64_t jobs = projected(rows.int8(i, 2), percent);
    counts.by_state[state] += jobs;
    if (rows.is_null(i, 1)) continue;
    HostCounts& host = by_host[std::string(rows.text(i, 1))];
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

JobCounts job_counts(Session& session, std::size_t hosts, std::int64_t sampled_blocks) {
  JobCounts counts;
  const std::int64_t blocks = session.execute(sql::backfill_counts_blocks, {}).int8(0, 0);
  counts.exact = blocks <= sampled_blocks;
  const double percent =
      counts.exact ? 100.0
                   : 100.0 * static_cast<double>(sampled_blocks) / static_cast<double>(blocks);
  count_sampled(session, counts, hosts, percent);

  Params limit;
  limit.int8(kCountedOneByOne);
  const Rows few = session.execute(sql::backfill_jobs_few, limit);
  for (std::size_t i = 0; i < few.size(); ++i) {
    const std::int64_t jobs = few.int8(i, 1);
    if (jobs < kCountedOneByOne) counts.by_state[job_state(few.text(i, 0)).value()] = jobs;
  }
  std::erase_if(counts.by_state, [](const auto& state) { return state.second == 0; });

  counts.next_due = next_due(session);
  const Rows errors = session.execute(sql::backfill_jobs_errors, {});
  for (std::size_t i = 0; i < errors.size(); ++i) {
    counts.errors.push_back({job_state(errors.text(i, 0)).value(), std::string(errors.text(i, 1)),
                             errors.int8(i, 2),
                             Timestamp(std::chrono::microseconds(errors.int8(i, 3)))});
  }
  return counts;
}

std::int64_t jobs_ended_since(Session& session, JobState state, Timestamp since) {
  Params params;
  params.text(to_string(state)).timestamp(since);
  return session.execute(sql::backfill_jobs_ended_since, params).int8(0, 0);
}

}  // namespace skua::backfill
