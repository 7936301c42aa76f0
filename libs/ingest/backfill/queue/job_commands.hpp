#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "atproto/tid.hpp"
#include "base/time.hpp"
#include "postgres/session.hpp"

namespace skua::backfill {

/// The values of `skua.backfill_jobs.state`.
enum class JobState : std::uint8_t { Queued, Running, Done, Unavailable, Failed, Cancelled };

std::string_view to_string(JobState state);
/// Returns nothing if there is no such state.
std::optional<JobState> job_state(std::string_view text);

/// The jobs that a command applies to. They match every field.
struct JobFilter {
  /// The accounts. If it is empty, all accounts match.
  std::vector<std::string> dids = {};
  std::optional<std::string> host = std::nullopt;
  /// The states. If it is empty, the states match for which the command is meant.
  std::vector<JobState> states = {};
};

/// Queues jobs again, due now, with all attempts. Returns their number. If the filter has no
/// states, it queues queued, unavailable and failed jobs, and for named accounts also done and
/// cancelled jobs. It never changes running jobs. Throws SqlError.
///
/// Call it outside of a transaction, because it commits in steps. Without named accounts it scans
/// the whole table once, which takes seconds for a million jobs.
std::size_t retry_jobs(postgres::Session& session, const JobFilter& filter, Timestamp now);

/// Cancels jobs. Returns their number. If the filter has no states, it cancels queued and running
/// jobs. Rows that a running job has written stay, and its lease owner notices the cancel when the
/// job ends. The other rules are those of `retry_jobs`.
std::size_t cancel_jobs(postgres::Session& session, const JobFilter& filter, Timestamp now);

/// An account's job, for users.
struct JobRow {
  std::string did;
  JobState state = JobState::Queued;
  /// The reason why its last attempt failed, or why the repository is unavailable.
  std::optional<std::string> error;
  /// The lease owner, while the job runs.
  std::optional<std::string> lease_owner;
  std::optional<std::string> host;
  /// The revision that the last finished job downloaded.
  std::optional<atproto::Tid> rev;
  std::int64_t records = 0;
  /// The number of failed attempts since the job was requested.
  int attempts = 0;
  Timestamp next_attempt;
  std::optional<Timestamp> finished_at;
};

/// Returns the jobs of these accounts, sorted by DID. Accounts without a job are left out. Throws
/// SqlError.
std::vector<JobRow> read_jobs(postgres::Session& session, std::span<const std::string> dids);

}  // namespace skua::backfill
