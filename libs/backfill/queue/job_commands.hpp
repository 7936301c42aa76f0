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
#include "store/session.hpp"

namespace skua::backfill {

/// As in `skua.backfill_jobs.state`.
enum class JobState : std::uint8_t { Queued, Running, Done, Unavailable, Failed, Cancelled };

std::string_view to_string(JobState state);
/// Nothing: no such state.
std::optional<JobState> job_state(std::string_view text);

/// Which jobs a command is for: those to which all of it applies.
struct JobFilter {
  /// Empty: all accounts.
  std::vector<std::string> dids = {};
  std::optional<std::string> host = std::nullopt;
  /// Empty: those that the command is meant for.
  std::vector<JobState> states = {};
};

/// Queues jobs again, due now, with all their attempts before them; returns how many. Without
/// states: those that wait, are unavailable or failed, and of named accounts also those that are
/// done or cancelled. Running jobs never. Throws SqlError.
///
/// Outside of a transaction: it commits step by step. Unless accounts are named it reads the whole
/// table once, from its beginning to its end: seconds for a million jobs.
std::size_t retry_jobs(store::Session& session, const JobFilter& filter, Timestamp now);

/// Cancels jobs; returns how many. Without states: those that are queued or running. What a running
/// one has written already stays; its holder learns it when the job ends. The rest as in
/// `retry_jobs`.
std::size_t cancel_jobs(store::Session& session, const JobFilter& filter, Timestamp now);

/// An account's job, for people.
struct JobRow {
  std::string did;
  JobState state = JobState::Queued;
  /// Why its last attempt failed, or why there is nothing to fetch.
  std::optional<std::string> error;
  /// Who has it, while it runs.
  std::optional<std::string> holder;
  std::optional<std::string> host;
  /// What the last job that was done brought.
  std::optional<atproto::Tid> rev;
  std::int64_t records = 0;
  /// Failed attempts since it was asked for.
  int attempts = 0;
  Timestamp next_attempt;
  std::optional<Timestamp> finished_at;
};

/// The jobs of those of the accounts that have one, sorted by DID. Throws SqlError.
std::vector<JobRow> read_jobs(store::Session& session, std::span<const std::string> dids);

}  // namespace skua::backfill
