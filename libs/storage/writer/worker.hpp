#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "base/fair_queue.hpp"
#include "event/resolved_event.hpp"
#include "postgres/session.hpp"
#include "writer/retrying_session.hpp"
#include "writer/worker_services.hpp"
#include "writer/write_permits.hpp"
#include "writer/write_policy.hpp"

namespace skua::writer {

/// Takes the chunks of its lane, and resolves and writes their events in batches, on a thread and a
/// connection of its own. The chunks of an account keep their order, and the accounts take turns:
/// an event waits for at most one event of each other account, and for one batch. The worker
/// retries failures of the server for ever, with backoff. An event that the database refuses
/// becomes a dead letter, and the rest of its batch is written. A chunk is reported to its producer
/// when the outcome of all its events is durable.
class Worker {
 public:
  /// `index` determines the name and the metrics of the worker (worker_index). `permits` are shared
  /// with the workers of the same source.
  Worker(std::size_t index, std::unique_ptr<WritePolicy> policy, WritePermits& permits,
         const WorkerServices& services);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// Adds a chunk to the queue. It never waits, because the producers bound the queue. Any thread
  /// may call it.
  void push(event::Chunk chunk);

  /// Returns how often the worker has looked for events. The number rises before each look. Any
  /// thread may call it.
  std::uint64_t rounds() const { return rounds_; }

  /// The number of events in the queue.
  std::size_t queued() const { return queue_.weight(); }

  /// Makes the thread end when all chunks are written. No more chunks may be pushed.
  void finish() { queue_.close(); }
  /// Makes the thread end as soon as possible, without writing the rest.
  void abandon() { thread_.request_stop(); }
  void join();

 private:
  struct Traits {
    /// All chunks of repositories have the same key, so they stay in the order of their producer,
    /// which bounds the part of each repository.
    static std::uint64_t key(const event::Chunk& chunk);
    static std::size_t weight(const event::Chunk& chunk) { return chunk.events.size(); }
    /// Returns an estimate of the time that PostgreSQL needs for the chunk. The time depends on the
    /// bytes and on the values of its records.
    static std::size_t cost(const event::Chunk& chunk);
  };
  using Queue = FairQueue<event::Chunk, Traits>;
  using Events = std::vector<TakenEvent>;

  void run(const std::stop_token& stop);
  void pause(const std::stop_token& stop);
  /// Waits for a first chunk, and then for more chunks as long as the policy lingers.
  void take();
  /// Moves chunks from the queue while the batch has room, except for chunks of accounts whose
  /// events are left from the last batch. It waits for the first chunk.
  void fill(std::chrono::milliseconds wait);
  bool has_batch() const;
  std::optional<WritePermits::Permit> wait_for_permit(const std::stop_token& stop);
  /// Writes all events of the taken chunks, with retries. Returns the events of busy accounts, or
  /// nothing if a stop was requested.
  std::optional<Events> write(const std::stop_token& stop);
  /// Writes the first `size` events, or fewer, in one transaction, and removes them from `events`.
  /// Moves the events of busy accounts, and later events of the same accounts, to `busy`.
  void write_batch(Events& events, std::size_t size, Events& busy);
  void dead_letter(const TakenEvent& taken, const postgres::SqlError& error);
  /// Reports the chunks without events in `left`. The other chunks stay whole, because to write an
  /// event again is idempotent.
  void report(const Events& left);

  const std::size_t index_;
  /// The name for the log and for `pg_stat_activity`.
  const std::string name_;
  const std::unique_ptr<WritePolicy> policy_;
  WritePermits& permits_;
  const WorkerServices& services_;
  std::atomic<std::uint64_t> rounds_{0};
  Queue queue_;
  RetryingSession session_;
  /// The chunks that were taken from the queue and are not yet reported.
  std::vector<event::Chunk> taken_;
  /// The busy accounts, whose events are left from the last batch.
  Queue::Skipped busy_;
  /// The size of the chunks in `taken_` that were taken since the last report. The other chunks are
  /// left from the last batch, and do not count for the size of the next one.
  Queue::Room newly_taken_{0, 0};
  std::mutex wait_mutex_;
  std::condition_variable_any wait_;
  std::jthread thread_;
};

}  // namespace skua::writer
