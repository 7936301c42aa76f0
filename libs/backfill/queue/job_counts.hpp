#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "backfill/queue/job_commands.hpp"
#include "base/time.hpp"
#include "store/session.hpp"

namespace skua::backfill {

/// The jobs of a host by state.
struct HostCounts {
  std::string host;
  std::int64_t queued = 0;
  std::int64_t running = 0;
  std::int64_t done = 0;
  /// Unavailable, failed or cancelled.
  std::int64_t ended_otherwise = 0;
};

/// A recent error of jobs.
struct ErrorCount {
  JobState state = JobState::Failed;
  std::string reason;
  std::int64_t jobs = 0;
  /// When it occurred last.
  Timestamp last;
};

/// A summary of the queue, for people.
struct JobCounts {
  /// Counted; false: estimated from a part of the table.
  bool exact = true;
  std::map<JobState, std::int64_t> by_state;
  /// The hosts with the most queued and running jobs, then with the most jobs.
  std::vector<HostCounts> hosts;
  /// When the first queued job is or was due; nothing: none is queued.
  std::optional<Timestamp> next_due;
  /// From the last thousand jobs of each state, the most frequent first. For queued jobs: why they
  /// wait.
  std::vector<ErrorCount> errors;
};

/// The work is bounded: a table of more than `sampled_blocks` blocks (8 kB, about 50 jobs) is
/// estimated from that many random blocks. Running, unavailable and failed jobs are counted exactly
/// up to 100,000, so that a single failure is visible. Takes at most about 100 ms if the blocks are
/// in memory. Throws SqlError.
JobCounts job_counts(store::Session& session, std::size_t hosts,
                     std::int64_t sampled_blocks = 4000);

/// How many jobs ended in this state, with an error, since then.
std::int64_t jobs_ended_since(store::Session& session, JobState state, Timestamp since);

}  // namespace skua::backfill
