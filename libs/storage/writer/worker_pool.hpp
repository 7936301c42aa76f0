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

/// The limits of the number of workers of one source that write at the same time. Between these
/// limits it is the number of cores. At least two workers write, because one can write while
/// another waits for its commit to reach the disk. The number is not much higher, because batches
/// would become smaller.
inline constexpr std::size_t kFewestWriters = 2;
inline constexpr std::size_t kMostWriters = 4;

std::size_t writers_at_once();

/// The maximum number of sources that one process can have at a time.
inline constexpr std::size_t kMostSources = 4'096;

struct WorkerPoolOptions {
  /// Whether no live events are written to the database. In this case backfill workers may use one
  /// more core. Beside live events, the additional core would double the time that live events
  /// wait.
  bool is_alone = false;
  /// The clock that measures the duration of transactions. It never jumps.
  const Clock& monotonic = monotonic_clock();
};

/// Writes the events of all sources of a process. It has 30 workers (2 sources x 5 record types x
/// 3) and the parts that they share: account numbers, known posts, the priority of live events. The
/// events of an account in one lane always go to the same worker, which keeps their order. The pool
/// outlives the threads of the producers.
class WorkerPool {
 public:
  explicit WorkerPool(postgres::Runtime& runtime, WorkerPoolOptions options = {});
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  /// Adds a source and returns the `origin` of its events. `name` is the name of the source in
  /// tombstones and dead letters. The producer must live until `end` has returned, or until
  /// `is_unused` is true for a round that began after all of its events were durable. Call it
  /// before `start`, or later on one thread. Only sources that were added before `start` can make
  /// the workers collect larger batches (Producer::is_crowded). Throws std::length_error if there
  /// are kMostSources.
  std::uint32_t add_source(std::string name, Producer& producer);

  /// A snapshot of how often each worker has looked for events, for `is_unused`.
  using Round = std::vector<std::uint64_t>;
  Round round() const;
  /// Returns whether each worker has looked for events since `round`. If so, no worker uses a
  /// producer any more whose events were all durable at `round`. An idle worker looks twice a
  /// second. A worker that waits for the database does not look.
  bool is_unused(const Round& round) const;
  /// Makes the origin free for another source. Call it after `is_unused` has returned true, on the
  /// same thread as `add_source`.
  void remove_source(std::uint32_t origin);

  /// Reads the account numbers and starts the threads. A worker connects when it first has events
  /// to write. Call it once. Throws postgres::SqlError.
  void start();

  /// Passes an event or a chunk to its worker. It never waits. Any thread may call it, but all
  /// events of one DID of one source must come from one thread.
  void push(event::UnresolvedEvent event);
  void push(event::Chunk chunk);

  /// The number of events in all queues.
  std::size_t queued() const;

  /// Ends the threads. If `streams_are_durable` is true, all events of streams are durable, so the
  /// end is quick. If it is false, events that are not durable remain unwritten. Chunks of
  /// repositories remain unwritten in both cases, because their jobs are repeated. After it, no
  /// `push` may be called, and the pool calls no producer. Idempotent.
  void end(bool streams_are_durable);

  /// Returns the metrics. Any thread may call it after `start`.
  const WorkerMetrics& metrics() const;

  ids::SharedIds& ids() { return ids_; }
  /// Returns the counters that all producers of streams share.
  Counters& stream_counters() { return stream_counters_; }

 private:
  postgres::Runtime& runtime_;
  const WorkerPoolOptions options_;
  // The index of these tables is the origin. Their size does not change, so that a worker can read
  // the entry of an event while another entry is written. A null producer means that the origin is
  // free.
  SourceNames names_;
  std::vector<Producer*> producers_;
  ids::SharedIds ids_;
  AddedLexicons lexicons_;
  /// `metrics` sets the gauges, so it changes this member.
  mutable WorkerMetrics metrics_;
  Counters stream_counters_;
  LiveBackpressure live_backpressure_;
  // Each source has permits of its own, so that live events do not wait for a batch of a backfill.
  WritePermits live_permits_;
  WritePermits backfill_permits_;
  std::unique_ptr<const WorkerServices> services_;
  /// The index of a worker is `worker_index`.
  std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace skua::writer
