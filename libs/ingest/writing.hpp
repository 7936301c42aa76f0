#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "event/unresolved_event.hpp"
#include "resolve/resolver.hpp"
#include "writer/counters.hpp"
#include "writer/in_flight.hpp"
#include "writer/live_backpressure.hpp"
#include "writer/live_writer.hpp"
#include "writer/worker_pool.hpp"

namespace skua::ingest {

/// Writes the events of all sources of a process: the 30 workers with their database connections,
/// the caches of account numbers and posts, and the backpressure for backfills. Outlives the
/// pipelines.
class Writing {
 public:
  /// `server_clock`: PostgreSQL's, for stored times. `on_defect` is called after a fatal error, on
  /// any thread; the owner then stops.
  Writing(std::string database_url, const Clock& clock, const Clock& server_clock,
          std::function<void(const std::string&)> on_defect);
  ~Writing();
  Writing(const Writing&) = delete;
  Writing& operator=(const Writing&) = delete;

  /// Before `start`: adds a source. `in_flight` holds its frames until they are durable; sources
  /// that stand by for each other share a list. Returns the `origin` of its events.
  std::uint32_t add_source(std::string name, writer::InFlightList& in_flight);

  /// Reads the account numbers and starts the workers. Once. Throws store::SqlError.
  void start();

  const Clock& server_clock() const { return server_clock_; }

  /// Passes an event to its worker. Never waits. Any thread; the events of one DID of one source
  /// from one thread.
  void push(event::UnresolvedEvent event) { pool_->push(std::move(event)); }

  /// Ends the workers. True: all events are durable, so that this is quick; false: events that are
  /// not durable are left. Idempotent.
  /// The in-flight lists are not used afterwards.
  void end(bool all_durable);

  resolve::SharedIds& ids() { return ids_; }
  writer::LiveBackpressure& live_backpressure() { return live_backpressure_; }
  const writer::Counters& counters() const { return counters_; }

 private:
  const std::string database_url_;
  const Clock& clock_;
  const Clock& server_clock_;
  const std::function<void(const std::string&)> on_defect_;
  writer::Counters counters_;
  writer::LiveBackpressure live_backpressure_;
  resolve::SharedIds ids_;
  std::vector<std::string> names_;
  std::vector<writer::InFlightList*> in_flight_;
  std::unique_ptr<writer::LiveWriter> writer_;
  std::unique_ptr<writer::WorkerServices> services_;
  std::unique_ptr<writer::WorkerPool> pool_;
};

}  // namespace skua::ingest
