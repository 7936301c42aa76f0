#include "backfill/queue/job_commands.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <span>
#include <utility>

#include "backfill/queue/job_commands.sql.hpp"
#include "backfill/queue/job_table.sql.hpp"

namespace skua::backfill {
namespace {

using postgres::Session;

constexpr std::array<std::pair<JobState, std::string_view>, 6> kNames{{
    {JobState::Queued, "queued"},
    {JobState::Running, "running"},
    {JobState::Done, "done"},
    {JobState::Unavailable, "unavailable"},
    {JobState::Failed, "failed"},
    {JobState::Cancelled, "cancelled"},
}};

/// The two statements of a command: for the jobs of named accounts, and for the jobs in a range of
/// the table's blocks.
struct Command {
  const postgres::Statement& named;
  const postgres::Statement& piece;
};

postgres::Array names_of(std::span<const JobState> states) {
  return postgres::column(states, [](JobState state) { return to_string(state); });
}

/// Each step has some thousand jobs, so that no step holds many locks, or holds locks for long.
std::size_t change_named(Session& session, const postgres::Statement& statement,
                         const JobFilter& filter, const postgres::Array& states, Timestamp now) {
  constexpr std::size_t kAtOnce = 10'000;
  const std::span<const std::string> dids = filter.dids;
  std::size_t changed = 0;
  for (std::size_t begin = 0; begin < dids.size(); begin += kAtOnce) {
    const auto some = dids.subspan(begin, std::min(kAtOnce, dids.size() - begin));
    changed += session.execute(statement, states, filter.host, now, some).affected();
  }
  return changed;
}

/// The steps are ranges of blocks, because no index serves every filter, and one pass over the
/// table is as fast as a disk reads. A row that a step changes moves to a free place. A later step
/// that reads the row again does not change it, because its state is different.
std::size_t change_pieces(Session& session, const postgres::Statement& statement,
                          const JobFilter& filter, const postgres::Array& states, Timestamp now) {
  constexpr std::int64_t kBlocksAtOnce = 500;
  const auto blocks = session.query_one<std::int64_t>(sql::backfill_jobs_blocks);
  std::size_t changed = 0;
  for (std::int64_t block = 0; block < blocks; block += kBlocksAtOnce) {
    changed += session.execute(statement, states, filter.host, now, block, block + kBlocksAtOnce)
                   .affected();
  }
  return changed;
}

std::size_t change(Session& session, const Command& command, const JobFilter& filter,
                   const std::vector<JobState>& meant, Timestamp now) {
  const postgres::Array states = names_of(filter.states.empty() ? meant : filter.states);
  return filter.dids.empty() ? change_pieces(session, command.piece, filter, states, now)
                             : change_named(session, command.named, filter, states, now);
}

/// A row of backfill_jobs_read.
struct StoredJob {
  std::string did;
  std::string state;
  std::optional<std::string> error;
  std::optional<std::string> lease_owner;
  std::optional<std::string> host;
  std::optional<atproto::Tid> rev;
  std::int64_t records;
  std::int32_t attempts;
  Timestamp next_attempt;
  std::optional<Timestamp> finished_at;
};

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
  return change(session, {sql::backfill_jobs_retry_named, sql::backfill_jobs_retry_piece}, filter,
                states, now);
}

std::size_t cancel_jobs(Session& session, const JobFilter& filter, Timestamp now) {
  return change(session, {sql::backfill_jobs_cancel_named, sql::backfill_jobs_cancel_piece}, filter,
                {JobState::Queued, JobState::Running}, now);
}

std::vector<JobRow> read_jobs(Session& session, std::span<const std::string> dids) {
  std::vector<JobRow> jobs;
  for (StoredJob& stored : session.query<StoredJob>(sql::backfill_jobs_read, dids)) {
    jobs.push_back({.did = std::move(stored.did),
                    .state = job_state(stored.state).value(),
                    .error = std::move(stored.error),
                    .lease_owner = std::move(stored.lease_owner),
                    .host = std::move(stored.host),
                    .rev = stored.rev,
                    .records = stored.records,
                    .attempts = stored.attempts,
                    .next_attempt = stored.next_attempt,
                    .finished_at = stored.finished_at});
  }
  return jobs;
}

}  // namespace skua::backfill
