#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/account_number.hpp"
#include "event/unresolved_event.hpp"

namespace skua::event {

/// An event with the numbers of its account, key and references. The record's references are
/// resolved in place (`ActorRef::id`, `RecordRef::actor_id` and so on).
struct ResolvedEvent {
  UnresolvedEvent event;
  AccountNumber actor_id = 0;
  /// The collection of a record change, or 0 for other events.
  std::int32_t collection_id = 0;
  std::int64_t rkey_number = 0;

  records::Decoded& record() { return change().record; }
  const records::Decoded& record() const { return change().record; }
  RecordChange& change() { return std::get<RecordChange>(event.body); }
  const RecordChange& change() const { return std::get<RecordChange>(event.body); }
};

/// Events of one account and one lane that a worker takes from its queue together: one event of a
/// stream, or records of a repository in key order. A chunk moves from thread to thread and is
/// never copied. A move does not relocate the events.
struct Chunk {
  /// Never empty. Before resolution the numbers in the events are 0; the worker sets them in place.
  std::vector<ResolvedEvent> events;
  /// The approximate size in memory, if the chunk is a part of a repository.
  std::size_t bytes = 0;
  /// The number of the repository in the process that reads it, or 0 if the chunk is not a part of
  /// a repository.
  std::uint64_t repository = 0;
  /// The lease number of the account's job (`skua.backfill_jobs.lease_number`): the chunk is
  /// written only while the job runs under this lease. 0 if the chunk does not belong to a job.
  std::int64_t lease_number = 0;
  /// The time at which the chunk came into the queue of a worker.
  std::chrono::steady_clock::time_point queued_at{};

  const std::string& did() const { return events.front().event.did; }
  Lane lane() const { return events.front().event.lane(); }
  /// The source that sent the events (UnresolvedEvent::origin).
  std::uint32_t origin() const { return events.front().event.origin; }
};

}  // namespace skua::event
