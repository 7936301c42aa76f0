#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "base/bounded_queue.hpp"
#include "base/time.hpp"
#include "event/resolved_event.hpp"
#include "event/unresolved_bulk.hpp"
#include "resolve/resolver.hpp"
#include "writer/bulk_group.hpp"
#include "writer/bulk_writer.hpp"
#include "writer/counters.hpp"
#include "writer/live_backpressure.hpp"
#include "writer/retrying_session.hpp"
#include "writer/write_turns.hpp"

namespace skua::writer {

/// What became of a chunk whose outcome is durable.
struct BulkWritten {
  std::uint64_t repository = 0;
  std::size_t records = 0;
  std::size_t bytes = 0;
};

/// Shared state of the bulk workers of a process. Everything outlives them.
struct BulkServices {
  std::string database_url;
  const BulkWriter& writer;
  resolve::SharedIds& ids;
  /// Bulk transactions wait while live lanes are deep.
  LiveBackpressure& live_backpressure;
  Counters& counters;
  const Clock& clock;
  /// By which it is measured how long transactions take: one that does not jump.
  const Clock& pace;
  /// From a worker's thread, once a chunk.
  std::function<void(const BulkWritten&)> on_written;
  /// Called from a worker's thread when a statement of ours is wrong: the process must stop.
  std::function<void(const std::string& what)> on_defect;
};

/// A worker of the backfill lanes: takes chunks of history in their order, puts those of small
/// repositories together, and writes them in transactions of at most half a second, so that no live
/// event waits longer for an account; on a thread and a connection of its own. Failures are met as
/// a live Worker meets them.
class BulkWorker {
 public:
  BulkWorker(std::string name, WriteTurns& turns, BulkServices& services);
  ~BulkWorker();
  BulkWorker(const BulkWorker&) = delete;
  BulkWorker& operator=(const BulkWorker&) = delete;

  /// Never waits: the repository reader limits the queue. Any thread.
  void push(event::UnresolvedBulk chunk);

  /// No more chunks come; the thread ends when all are written.
  void finish() { queue_.close(); }
  /// The thread ends as soon as possible and leaves the rest unwritten.
  void abandon() { thread_.request_stop(); }
  void join();

 private:
  using Events = std::vector<event::ResolvedEvent*>;

  void run(const std::stop_token& stop);
  /// Waits for chunks, until they are enough for a transaction or others have waited long enough.
  std::vector<event::UnresolvedBulk> take();
  /// Writes the events, with retries. False: a stop was requested first. `claims`: as for
  /// BulkWriter.
  bool write(Events events, std::span<const std::int64_t> claims, const std::stop_token& stop);
  /// One transaction.
  void write_piece(std::span<event::ResolvedEvent* const> piece,
                   std::span<const std::int64_t> claims);
  void dead_letter(const event::ResolvedEvent& event, const store::SqlError& error);

  const std::string name_;
  WriteTurns& turns_;
  BulkServices& services_;
  BoundedQueue<event::UnresolvedBulk> queue_;
  RetryingSession session_;
  BulkGroup group_;
  std::jthread thread_;
};

}  // namespace skua::writer
