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

/// As in `skua.backfill_jobs.state`.
enum class JobState : std::uint8_t { Queued, Running, Done, Unavailable, Failed, Cancelled };

std::string_view to_string(JobState state);
/// Nothing: no such state.
std::optional<JobState> job_state(std::string_view text);

/// The jobs that a command applies to: those that match every field.
struct JobFilter {
  /// Empty: all accounts.
  std::vector<std::string> dids = {};
  std::optional<std::string> host = std::nullopt;
  /// Empty: the states that the command is meant for.
  std::vector<JobState> states = {};
};

/// Queues jobs again, due now, with all attempts; returns how many. Without states: queued,
/// unavailable and failed jobs, and for named accounts also done and cancelled ones. Running jobs
/// never. Throws SqlError.
///
/// Called outside a transaction: it commits in steps. Without named accounts it scans the whole
/// table once: seconds for a million jobs.
std::size_t retry_jobs(postgres::Session& session, const JobFilter& filter, Timestamp now);

/// Cancels jobs; returns how many. Without states: queued and running jobs. Rows that a running job
/// has written stay; its lease owner notices when the job ends. Otherwise like `retry_jobs`.
std::size_t cancel_jobs(postgres::Session& session, const JobFilter& filter, Timestamp now);

/// An account's job, for people.
struct JobRow {
  std::string did;
  JobState state = JobState::Queued;
  /// Why its last attempt failed, or why the repository is unavailable.
  std::optional<std::string> error;
  /// The lease owner, while the job runs.
  std::optional<std::string> lease_owner;
  std::optional<std::string> host;
  /// What the last finished job downloaded.
  std::optional<atproto::Tid> rev;
  std::int64_t records = 0;
  /// Failed attempts since the job was requested.
  int attempts = 0;
  Timestamp next_attempt;
  std::optional<Timestamp> finished_at;
};

/// The jobs of these accounts, sorted by DID. Accounts without a job are left out. Throws SqlError.
std::vector<JobRow> read_jobs(postgres::Session& session, std::span<const std::string> dids);

}  // namespace skua::backfill
