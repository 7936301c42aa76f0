#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stop_token>
#include <vector>

#include "event/chunk.hpp"
#include "event/resolved_event.hpp"
#include "store/session.hpp"

namespace skua::writer {

/// An event that a worker has taken from its queue, and its chunk.
struct TakenEvent {
  event::ResolvedEvent* event = nullptr;
  const event::Chunk* chunk = nullptr;
};

/// The outcome of a batch.
struct Written {
  std::size_t rows = 0;       // whose content was inserted, changed or deleted
  std::size_t unchanged = 0;  // a guard excluded them, or a later event of the batch replaced them
  std::size_t dead_letters = 0;
  /// Indices of events that were not written because another session holds the lock of their
  /// account, in their order.
  std::vector<std::size_t> busy;
};

/// The difference between live workers and backfill workers. Each worker has its own, and calls it
/// on its thread, except for `queued`.
class WritePolicy {
 public:
  WritePolicy() = default;
  virtual ~WritePolicy() = default;
  WritePolicy(const WritePolicy&) = delete;
  WritePolicy& operator=(const WritePolicy&) = delete;

  /// Events were put into the worker's queue. Any thread.
  virtual void queued(std::size_t /*events*/) {}
  /// The worker took events from its queue.
  virtual void taken(std::size_t /*events*/) {}
  /// The number of events in the next batch, at most.
  virtual std::size_t batch_size() const = 0;
  /// The cost of the events in the next batch (Worker::Traits::cost), at most: one more event may
  /// come.
  virtual std::size_t batch_cost() const = 0;
  /// How long a batch that is not full waits for more events.
  virtual std::chrono::milliseconds linger() const = 0;
  /// Returns when nothing of a higher priority waits, or a stop was requested.
  virtual void wait_for_priority(const std::stop_token& stop) = 0;
  /// Writes resolved events of one lane; their producers share their counters. Throws
  /// store::SqlError; a repetition is idempotent.
  virtual Written write(store::Session& session, std::span<const TakenEvent> batch) = 0;
};

}  // namespace skua::writer
