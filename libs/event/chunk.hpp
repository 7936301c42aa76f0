#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "event/resolved_event.hpp"

namespace skua::event {

/// Events of one account and one lane that a worker takes from its queue together: one event of a
/// stream, or records of a repository in key order. Moved from thread to thread, never copied; a
/// move leaves the events where they are.
struct Chunk {
  /// Never empty. Not resolved yet: their numbers are 0, and the worker sets them in place.
  std::vector<ResolvedEvent> events;
  /// Approximate size in memory, of a part of a repository.
  std::size_t bytes = 0;
  /// The number of its repository in the process that reads it; 0: it is part of none.
  std::uint64_t repository = 0;
  /// The claim number of the account's job (`skua.backfill_jobs.claim`): the chunk is written only
  /// while the job runs under this claim. 0: it belongs to no job.
  std::int64_t claim = 0;

  const std::string& did() const { return events.front().event.did; }
  Lane lane() const { return events.front().event.lane(); }
  /// The source that brought it (UnresolvedEvent::origin).
  std::uint32_t origin() const { return events.front().event.origin; }
};

}  // namespace skua::event
