#include "backfill/queue/job_table.hpp"

#include <algorithm>

#include "backfill/queue/impl/job_sql.hpp"
#include "backfill/queue/job_table.sql.hpp"

namespace skua::backfill {
namespace {

using store::Array;
using store::Params;
using store::Session;
using store::Statement;

std::size_t add_some(Session& session, std::span<const NewJob> jobs, Again again, Timestamp now) {
  Array dids(Array::Type::text);
  Array hosts(Array::Type::text);
  Array files(Array::Type::text);
  Array since(Array::Type::int8);
  Array listed(Array::Type::int8);
  for (const NewJob& job : jobs) {
    dids.text(job.did);
    impl::add_or_null(hosts, job.host);
    impl::add_or_null(files, job.file);
    impl::add_or_null(since, job.since);
    impl::add_or_null(listed, job.listed);
  }
  Params params;
  params.array(dids).array(hosts).array(files).array(since).timestamp(now);
  std::size_t queued = session.execute(sql::backfill_jobs_insert, params).affected();
  if (queued == jobs.size()) return queued;
  params.boolean(again == Again::Yes).array(listed);
  queued += session.execute(sql::backfill_jobs_again, params).affected();
  if (again == Again::Yes) {
    Params hurry;
    hurry.array(dids).timestamp(now);
    session.execute(sql::backfill_jobs_hurry, hurry);
  }
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
  Params params;
  params.timestamp(now).int8(static_cast<std::int64_t>(limit));
  return session.execute(sql::backfill_jobs_retry_rarely, params).affected();
}

}  // namespace skua::backfill
