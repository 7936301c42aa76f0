#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <vector>

#include "writer/worker.hpp"
#include "writer/write_turns.hpp"

namespace skua::writer {

/// How many workers of one source write at the same time: as many as there are cores, within
/// limits. Never one, so that a commit's wait for the disk is another's time; and beyond some, the
/// groups shrink again.
inline constexpr std::size_t kFewestWriters = 2;
inline constexpr std::size_t kMostWriters = 4;

std::size_t writers_at_once();

/// The 30 workers: 2 sources x 5 record types x 3. An account's events of one lane always meet the
/// same worker, which keeps their order. Threads start in the constructor; connections are made
/// when a worker first has something to write.
class WorkerPool {
 public:
  explicit WorkerPool(WorkerServices& services);

  /// Hands an event to its worker. Never waits. Any thread; one DID's events from one thread.
  void push(event::UnresolvedEvent event);

  /// Events in all queues.
  std::size_t queued() const;

  /// Writes queued events and ends the threads. No `push` after it.
  void finish();
  /// Ends the threads without writing queued events; their tickets stay unfinished.
  void abandon();

 private:
  // Each source has its own: a bulk transaction does not keep live events waiting.
  WriteTurns live_turns_;
  WriteTurns backfill_turns_;
  std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace skua::writer
