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

/// What a host's jobs are.
struct HostCounts {
  std::string host;
  std::int64_t queued = 0;
  std::int64_t running = 0;
  std::int64_t done = 0;
  /// Unavailable, failed or cancelled.
  std::int64_t ended_otherwise = 0;
};

/// An error that jobs ended with lately.
struct ErrorCount {
  JobState state = JobState::Failed;
  std::string words;
  std::int64_t jobs = 0;
  /// When one last did.
  Timestamp last;
};

/// The queue at a glance, for people.
struct JobCounts {
  /// Counted; false: projected from a part of the table.
  bool exact = true;
  std::map<JobState, std::int64_t> by_state;
  /// Those with most queued and running jobs, and of equal ones those with most jobs.
  std::vector<HostCounts> hosts;
  /// When the first queued job is due, or was; nothing: none is queued.
  std::optional<Timestamp> next_due;
  /// Out of the last thousand of each state, most frequent first. Of queued jobs: why they wait.
  std::vector<ErrorCount> errors;
};

/// Bounded work, however many jobs there are: a table of more than `sampled_blocks` blocks (8 kB,
/// about 50 jobs) is projected from as many blocks of it, drawn at random. Running, unavailable and
/// failed jobs are counted one by one as long as they are few (100,000), so that a single failure
/// shows. Some 100 ms at most where the blocks are in memory. Throws SqlError.
JobCounts job_counts(store::Session& session, std::size_t hosts,
                     std::int64_t sampled_blocks = 4000);

/// How many jobs ended in this state, for a reason, since then. Done ones have none.
std::int64_t jobs_ended_since(store::Session& session, JobState state, Timestamp since);

}  // namespace skua::backfill
