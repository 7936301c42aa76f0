#pragma once

#include <chrono>
#include <functional>
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
  struct Options {
    std::string database_url;
    std::chrono::milliseconds interval{10'000};
    /// Called on its thread after a fatal error: nothing is removed any more.
    std::function<void(const std::string& what)> on_defect = nullptr;
  };

  /// `filter` outlives it.
  Remover(Options options, const filter::CurrentFilter& filter);

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
