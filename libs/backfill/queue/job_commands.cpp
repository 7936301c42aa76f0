#include "backfill/queue/job_commands.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <span>
#include <utility>

#include "backfill/queue/job_commands.sql.hpp"

namespace skua::backfill {
namespace {

using store::Array;
using store::Params;
using store::Session;
using store::Statement;

constexpr std::array<std::pair<JobState, std::string_view>, 6> kNames{{
    {JobState::Queued, "queued"},
    {JobState::Running, "running"},
    {JobState::Done, "done"},
    {JobState::Unavailable, "unavailable"},
    {JobState::Failed, "failed"},
    {JobState::Cancelled, "cancelled"},
}};

/// A command changes some of the table at a time: `named` jobs, or those of a `piece` of its
/// blocks.
struct Command {
  Statement named;
  Statement piece;
};

/// $1: states, $2: host or null, $3: now; then DIDs, or the first block and the one behind the
/// last.
Command command(const std::string& name, const std::string& where, const std::string& set) {
  const auto update = [&](const std::string& which) {
    return "WITH hit AS MATERIALIZED (SELECT j.did FROM skua.backfill_jobs AS j WHERE " + which +
           " AND j.state = ANY ($1::text[]) AND ($2::text IS NULL OR j.host = $2::text) AND " +
           where +
           " ORDER BY j.did FOR UPDATE) "
           "UPDATE skua.backfill_jobs AS j SET lease_until = NULL, lease_owner = NULL, " +
           set + " FROM hit WHERE j.did = hit.did";
  };
  return {{name + "_named", update("j.did = ANY ($4::text[])")},
          {name + "_piece", update("j.ctid >= format('(%s,0)', $4::int8)::tid "
                                   "AND j.ctid < format('(%s,0)', $5::int8)::tid")}};
}

const Command kRetry =
    command("backfill_jobs_retry",
            "j.state <> 'running' AND (j.state <> 'queued' OR j.next_attempt > $3::timestamptz)",
            "state = 'queued', attempts = 0, lost = 0, retries = 0, error = NULL, "
            "next_attempt = $3::timestamptz");
const Command kCancelJobs = command("backfill_jobs_cancel", "j.state <> 'cancelled'",
                                    "state = 'cancelled', finished_at = $3::timestamptz");

Timestamp instant(const store::Rows& rows, std::size_t row, std::size_t column) {
  return Timestamp(std::chrono::microseconds(rows.int8(row, column)));
}

Params params_of(const JobFilter& filter, std::span<const JobState> states, Timestamp now) {
  Array names(Array::Type::text);
  for (const JobState state : states) names.text(to_string(state));
  Params params;
  params.array(names);
  filter.host ? params.text(*filter.host) : params.null();
  params.timestamp(now);
  return params;
}

/// Some thousand jobs a step, so that none holds many locks, or holds them for long.
std::size_t change_named(Session& session, const Statement& statement, const Params& common,
                         const JobFilter& filter) {
  constexpr std::size_t kAtOnce = 10'000;
  std::size_t changed = 0;
  for (std::size_t begin = 0; begin < filter.dids.size(); begin += kAtOnce) {
    const std::size_t end = std::min(begin + kAtOnce, filter.dids.size());
    Array dids(Array::Type::text);
    for (std::size_t i = begin; i < end; ++i) dids.text(filter.dids[i]);
    Params params = common;
    params.array(dids);
    changed += session.execute(statement, params).affected();
  }
  return changed;
}

/// By place: no index serves every filter, and one pass over the table is as fast as a disk reads.
/// What a step changes moves to free places, and is met again unharmed, because it fits no more.
std::size_t change_pieces(Session& session, const Statement& statement, const Params& common) {
  constexpr std::int64_t kBlocksAtOnce = 500;
  const std::int64_t blocks = session.execute(sql::backfill_jobs_blocks, {}).int8(0, 0);
  std::size_t changed = 0;
  for (std::int64_t block = 0; block < blocks; block += kBlocksAtOnce) {
    Params params = common;
    params.int8(block).int8(block + kBlocksAtOnce);
    changed += session.execute(statement, params).affected();
  }
  return changed;
}

std::size_t change(Session& session, const Command& command, const JobFilter& filter,
                   std::vector<JobState> states, Timestamp now) {
  if (!filter.states.empty()) states = filter.states;
  const Params common = params_of(filter, states, now);
  return filter.dids.empty() ? change_pieces(session, command.piece, common)
                             : change_named(session, command.named, common, filter);
}

}  // namespace

std::string_view to_string(JobState state) {
  for (const auto& [known, name] : kNames) {
    if (known == state) return name;
  }
  return "?";
}

std::optional<JobState> job_state(std::string_view text) {
  for (const auto& [state, name] : kNames) {
    if (name == text) return state;
  }
  return std::nullopt;
}

std::size_t retry_jobs(Session& session, const JobFilter& filter, Timestamp now) {
  std::vector<JobState> states{JobState::Queued, JobState::Unavailable, JobState::Failed};
  if (!filter.dids.empty()) states.insert(states.end(), {JobState::Done, JobState::Cancelled});
  return change(session, kRetry, filter, std::move(states), now);
}

std::size_t cancel_jobs(Session& session, const JobFilter& filter, Timestamp now) {
  return change(session, kCancelJobs, filter, {JobState::Queued, JobState::Running}, now);
}

std::vector<JobRow> read_jobs(Session& session, std::span<const std::string> dids) {
  Array array(Array::Type::text);
  for (const std::string& did : dids) array.text(did);
  Params params;
  params.array(array);
  const store::Rows rows = session.execute(sql::backfill_jobs_read, params);
  std::vector<JobRow> jobs;
  jobs.reserve(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    JobRow& job = jobs.emplace_back();
    job.did = rows.text(i, 0);
    job.state = job_state(rows.text(i, 1)).value();
    job.error = rows.text_or_null(i, 2);
    job.lease_owner = rows.text_or_null(i, 3);
    job.host = rows.text_or_null(i, 4);
    if (!rows.is_null(i, 5)) job.rev = atproto::Tid{static_cast<std::uint64_t>(rows.int8(i, 5))};
    job.records = rows.int8(i, 6);
    job.attempts = rows.int4(i, 7);
    job.next_attempt = instant(rows, i, 8);
    if (!rows.is_null(i, 9)) job.finished_at = instant(rows, i, 9);
  }
  return jobs;
}

}  // namespace skua::backfill
