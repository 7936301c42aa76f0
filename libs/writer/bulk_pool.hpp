#pragma once

#include <memory>
#include <vector>

#include "event/unresolved_bulk.hpp"
#include "writer/bulk_worker.hpp"
#include "writer/write_turns.hpp"

namespace skua::writer {

/// The 15 workers of the backfill lanes: 5 record types x 3. An account's chunks of one type always
/// meet the same worker, which keeps their order. Threads start in the constructor; connections are
/// made when a worker first has something to write.
class BulkPool {
 public:
  /// `is_alone`: no live events wait for the database; then one more writes at once than
  /// `writers_at_once`, so that while one waits for its commit its core has work. (Beside live
  /// events it makes them wait twice as long.)
  BulkPool(BulkServices& services, bool is_alone);

  /// Hands a chunk to its worker. Never waits. Any thread; one DID's chunks from one thread.
  void push(event::UnresolvedBulk chunk);

  /// Writes queued chunks and ends the threads. No `push` after it.
  void finish();
  /// Ends the threads without writing queued chunks.
  void abandon();

 private:
  WriteTurns turns_;
  std::vector<std::unique_ptr<BulkWorker>> workers_;
};

}  // namespace skua::writer
