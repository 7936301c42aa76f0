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

/// From events to durable rows, for all sources of a process: the 30 workers with their database
/// connections, the ids that they know, and the measure of how much live work waits. Outlives the
/// pipelines; made and ended by their owner.
class Writing {
 public:
  /// `server_clock`: PostgreSQL's, for what is stored. `on_defect` is called, from some thread,
  /// when going on would be wrong; the owner then stops.
  Writing(std::string database_url, const Clock& clock, const Clock& server_clock,
          std::function<void(const std::string&)> on_defect);
  ~Writing();
  Writing(const Writing&) = delete;
  Writing& operator=(const Writing&) = delete;

  /// Before `start`: a source of this name, whose frames are in this list until they are durable.
  /// Returns what its events have as `origin`. Sources that stand by for each other share a list.
  std::uint32_t add_source(std::string name, writer::InFlightList& in_flight);

  /// Reads the ids of accounts and starts the workers. Once. Throws store::SqlError.
  void start();

  const Clock& server_clock() const { return server_clock_; }

  /// Hands an event to its worker. Never waits. Any thread; one DID's events of one source from one
  /// thread.
  void push(event::UnresolvedEvent event) { pool_->push(std::move(event)); }

  /// Ends the workers: when all is durable, which is quick, or leaving what is not. Idempotent.
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
