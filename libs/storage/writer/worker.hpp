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

/// Takes the chunks of its lane, resolves and writes their events in batches, on a thread and a
/// connection of its own. The chunks of an account keep their order, and the accounts take turns:
/// events of an account wait for one event of each other account at most, and for one batch. It
/// retries failures of the server for ever, with backoff. An event that the database refuses
/// becomes a dead letter, and the rest of its batch is written. A chunk is reported to its producer
/// when the outcome of all its events is durable.
class Worker {
 public:
  /// `index`: of its name and metrics (worker_index). `permits`: shared with the workers of the
  /// same source.
  Worker(std::size_t index, std::unique_ptr<WritePolicy> policy, WritePermits& permits,
         const WorkerServices& services);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// Never waits: the producers bound the queue. Any thread.
  void push(event::Chunk chunk);

  /// How often it has looked for events: rises before each look. Any thread.
  std::uint64_t rounds() const { return rounds_; }

  /// The number of events in the queue.
  std::size_t queued() const { return queue_.weight(); }

  /// No more chunks come; the thread ends when all are written.
  void finish() { queue_.close(); }
  /// The thread ends as soon as possible and leaves the rest unwritten.
  void abandon() { thread_.request_stop(); }
  void join();

 private:
  struct Traits {
    /// Chunks of repositories stay in the order of their producer, which bounds the part of each.
    static std::uint64_t key(const event::Chunk& chunk);
    static std::size_t weight(const event::Chunk& chunk) { return chunk.events.size(); }
    /// Approximates the time that PostgreSQL needs: it depends on the bytes and on the values of
    /// records.
    static std::size_t cost(const event::Chunk& chunk);
  };
  using Queue = FairQueue<event::Chunk, Traits>;
  using Events = std::vector<TakenEvent>;

  void run(const std::stop_token& stop);
  void pause(const std::stop_token& stop);
  /// Waits for a first chunk, and for more as long as the policy lingers.
  void take();
  /// Moves chunks from the queue while the batch has room: not those of accounts whose events are
  /// left from the last batch. Waits for the first.
  void fill(std::chrono::milliseconds wait);
  bool has_batch() const;
  std::optional<WritePermits::Permit> wait_for_permit(const std::stop_token& stop);
  /// Writes all events of the taken chunks, with retries. Returns those of busy accounts; nothing:
  /// a stop was requested.
  std::optional<Events> write(const std::stop_token& stop);
  /// One transaction of the first `size` events, or fewer: it removes them from `events`. Those of
  /// busy accounts go to `busy`, and the events of the same accounts that follow.
  void write_batch(Events& events, std::size_t size, Events& busy);
  void dead_letter(const TakenEvent& taken, const postgres::SqlError& error);
  /// Reports the chunks of which no event is left. The others stay whole: to write an event again
  /// is idempotent.
  void report(const Events& left);

  const std::size_t index_;
  /// For the log and `pg_stat_activity`.
  const std::string name_;
  const std::unique_ptr<WritePolicy> policy_;
  WritePermits& permits_;
  const WorkerServices& services_;
  std::atomic<std::uint64_t> rounds_{0};
  Queue queue_;
  RetryingSession session_;
  /// Taken from the queue and not yet reported.
  std::vector<event::Chunk> taken_;
  /// The events of busy accounts are left from the last batch.
  Queue::Skipped busy_;
  /// Taken for the next batch.
  Queue::Room fresh_{0, 0};
  std::mutex wait_mutex_;
  std::condition_variable_any wait_;
  std::jthread thread_;
};

}  // namespace skua::writer
