#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "event/resolved_event.hpp"
#include "event/unresolved_event.hpp"
#include "ids/resolver.hpp"
#include "writer/added_lexicons.hpp"
#include "writer/worker.hpp"
#include "writer/worker_metrics.hpp"
#include "writer/worker_services.hpp"
#include "writer/write_permits.hpp"

namespace skua::writer {

/// How many workers of one source write at the same time: as many as there are cores, within
/// limits. At least two, because one can write while another waits for its commit to reach the
/// disk; not many more, because batches shrink again.
inline constexpr std::size_t kFewestWriters = 2;
inline constexpr std::size_t kMostWriters = 4;

std::size_t writers_at_once();

/// How many sources one process can have at a time.
inline constexpr std::size_t kMostSources = 4'096;

struct WorkerPoolOptions {
  /// No live events are written to the database: backfill workers may use one core more. Beside
  /// live events, they would make these wait twice as long.
  bool is_alone = false;
  /// Measures the duration of transactions; does not jump.
  const Clock& monotonic = monotonic_clock();
};

/// Writes the events of all sources of a process: 30 workers (2 sources x 5 record types x 3), and
/// what they share: account numbers, known posts, the priority of live events. The events of an
/// account in one lane always go to the same worker, which keeps their order. Outlives the
/// producers' threads.
class WorkerPool {
 public:
  explicit WorkerPool(postgres::Runtime& runtime, WorkerPoolOptions options = {});
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  /// Adds a source. `name` stands in tombstones and dead letters. Returns the `origin` of its
  /// events. The producer outlives `end`, or `is_unused` is true for a round that began after all
  /// of its events were durable. Before `start`, or later by one thread: only sources that were
  /// added before can make the workers collect larger batches (Producer::is_crowded). Throws
  /// std::length_error when there are kMostSources.
  std::uint32_t add_source(std::string name, Producer& producer);

  /// How often each worker has looked for events: see `is_unused`.
  using Round = std::vector<std::uint64_t>;
  Round round() const;
  /// Whether each worker has looked for events since then: none uses a producer any more of which
  /// all events were durable at `round`. An idle worker looks twice a second; a worker that waits
  /// for the database does not look.
  bool is_unused(const Round& round) const;
  /// After `is_unused`: the origin may stand for another source. As `add_source`.
  void remove_source(std::uint32_t origin);

  /// Reads the account numbers and starts the threads. A worker connects when it first has
  /// something to write. Once. Throws postgres::SqlError.
  void start();

  /// Passes an event or a chunk to its worker. Never waits. Any thread; those of one DID of one
  /// source from one thread.
  void push(event::UnresolvedEvent event);
  void push(event::Chunk chunk);

  /// The number of events in all queues.
  std::size_t queued() const;

  /// Ends the threads. True: all events of streams are durable, so that this is quick. False:
  /// events that are not durable are left. Chunks of repositories are left in both cases: their
  /// jobs are repeated. No `push` and no call of a producer after it. Idempotent.
  void end(bool streams_are_durable);

  /// Any thread, after `start`.
  const WorkerMetrics& metrics() const;

  ids::SharedIds& ids() { return ids_; }
  /// For the producers of streams, which share them.
  Counters& stream_counters() { return stream_counters_; }

 private:
  postgres::Runtime& runtime_;
  const WorkerPoolOptions options_;
  // By origin. Their size does not change, so that a worker can read the entry of an event while
  // another one is written. Null: the origin is free.
  SourceNames names_;
  std::vector<Producer*> producers_;
  ids::SharedIds ids_;
  AddedLexicons lexicons_;
  /// `metrics` sets the gauges.
  mutable WorkerMetrics metrics_;
  Counters stream_counters_;
  LiveBackpressure live_backpressure_;
  // Each source has its own: a batch of a backfill does not keep live events waiting.
  WritePermits live_permits_;
  WritePermits backfill_permits_;
  std::unique_ptr<const WorkerServices> services_;
  /// By `worker_index`.
  std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace skua::writer
