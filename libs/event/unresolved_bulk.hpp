#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "event/resolved_event.hpp"

namespace skua::event {

/// Records of one account and one record type, out of one CAR, in key order: a chunk of its
/// history. Owned by whoever holds it; moved from thread to thread, never copied.
struct UnresolvedBulk {
  std::string did;
  RecordType type = RecordType::Metadata;
  /// Not resolved yet: their numbers are 0, and they get them in place.
  std::vector<ResolvedEvent> events;
  /// Approximate size in memory.
  std::size_t bytes = 0;
  /// Whose chunk it is, for whoever counts them.
  std::uint64_t repository = 0;
  /// Which claim of the account's job brought it (`skua.backfill_jobs.claim`): it is written only
  /// while that is the last one, and the job is running. 0: it belongs to no job.
  std::int64_t claim = 0;
};

}  // namespace skua::event
