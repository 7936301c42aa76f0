#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "base/bounded_queue.hpp"
#include "base/time.hpp"
#include "event/resolved_event.hpp"
#include "resolve/resolver.hpp"
#include "store/session.hpp"
#include "writer/bulk_writer.hpp"
#include "writer/counters.hpp"
#include "writer/in_flight.hpp"
#include "writer/live_backpressure.hpp"
#include "writer/live_writer.hpp"
#include "writer/retrying_session.hpp"
#include "writer/write_turns.hpp"

namespace skua::writer {

/// Events in one transaction at most. Twice as many are worth a few percent, and would need more
/// locks at a time than a server as it is installed has.
inline constexpr std::size_t kGroup = 640;

/// Shared state of the workers of a pool. Everything outlives them.
struct WorkerServices {
  std::string database_url;
  const LiveWriter& writer;
  resolve::SharedIds& ids;
  /// Where an event's frame is until it is durable, by UnresolvedEvent::origin. Complete before the
  /// first event comes.
  std::vector<InFlightList*> in_flight;
  LiveBackpressure& live_backpressure;
  Counters& counters;
  const Clock& clock;
  /// PostgreSQL's, for the times that are stored: other processes compare with them.
  const Clock& server_clock;
  /// Called from a worker's thread when a statement of ours is wrong: the process must stop.
  std::function<void(const std::string& what)> on_defect;
};

/// One of the 30: takes the events of its lane in their order, resolves and writes them in groups,
/// on a thread and a connection of its own. A failure of the server is retried for ever with
/// backoff; an event whose data the database refuses ends in `skua.dead_letter`, and the rest of
/// its batch is written. An event's ticket is finished only when its outcome is durable.
class Worker {
 public:
  /// `turns`: those of the workers that it shares the database's cores with.
  Worker(event::Lane lane, std::size_t number, WriteTurns& turns, WorkerServices& services);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// Never waits: the in-flight list limits the queue. Any thread.
  void push(event::UnresolvedEvent event);

  std::size_t queued() const { return queue_.size(); }

  /// No more events come; the thread ends when all are written.
  void finish() { queue_.close(); }
  /// The thread ends as soon as possible and leaves the rest unfinished.
  void abandon() { thread_.request_stop(); }
  void join();

 private:
  using Batch = std::vector<event::ResolvedEvent>;

  void run(const std::stop_token& stop);
  /// Waits for a first event, unless there is one in hand, and a moment for its company.
  void take(Batch& batch);
  /// Appends queued events while the group has room, for at most `wait`.
  void fill(Batch& batch, std::chrono::milliseconds wait);
  /// Writes the batch, with retries. Events of busy accounts remain and come first in the next
  /// batch.
  void write(Batch& batch, const std::stop_token& stop);
  /// One transaction of the first `size` events: they leave `batch`, into `busy` if their account
  /// is.
  void write_front(Batch& batch, std::size_t size, Batch& busy);
  /// Writes many records of history as those of whole repositories are. False: they are not of that
  /// kind, and nothing was written.
  bool write_in_bulk(store::Session& connection, std::span<const event::ResolvedEvent> front);
  void dead_letter_front(Batch& batch, const store::SqlError& error);
  void finish_front(Batch& batch, std::size_t size, const std::vector<std::size_t>& busy_indices,
                    Batch& busy);
  /// So many frames are in flight somewhere that rows are late anyway.
  bool is_crowded() const;

  const event::Lane lane_;
  const std::string name_;
  WriteTurns& turns_;
  WorkerServices& services_;
  BoundedQueue<event::UnresolvedEvent> queue_;
  RetryingSession session_;
  // Of the backfill lanes.
  const BulkWriter bulk_;
  std::mutex wait_mutex_;
  std::condition_variable_any wait_;
  std::jthread thread_;
};

}  // namespace skua::writer
