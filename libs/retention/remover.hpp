#pragma once

#include <chrono>
#include <string>

#include "filter/current_filter.hpp"
#include "retention/removal.hpp"
#include "store/session_thread.hpp"

namespace skua::retention {

/// Removes the rows of deleted and excluded accounts and old rows while a process runs, on a thread
/// and a connection of its own. Deleted accounts take turns of 5,000 rows. A pass through a large
/// table is spread over a day, so that it does not compete with the writers.
class Remover {
 public:
  /// `filter` outlives it.
  Remover(store::Runtime& runtime, const filter::CurrentFilter& filter,
          std::chrono::milliseconds interval = std::chrono::seconds(10));

  void start() { thread_.start(); }
  /// Idempotent.
  void stop() { thread_.stop(); }

  const RemovalMetrics& metrics() const { return metrics_; }

 private:
  void remove(store::Session& session, const std::stop_token& stop);

  const filter::CurrentFilter& filter_;
  const std::chrono::milliseconds interval_;
  RemovalMetrics metrics_;
  store::SessionThread thread_;
};

}  // namespace skua::retention
