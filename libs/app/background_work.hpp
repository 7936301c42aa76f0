#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "base/time.hpp"
#include "feed/consumers/consumer_pool.hpp"
#include "feed/log_maintenance.hpp"
#include "filter/current_filter.hpp"
#include "recheck/rechecker.hpp"
#include "resolve/resolver.hpp"
#include "retention/remover.hpp"
#include "status/metrics.hpp"

namespace skua::app {

/// The work of a process on what is stored already, beside its sources: partitions of the change
/// log, retention and exclusion, checks of stored records against changed lexicons, and consumers.
/// Each part has threads and sessions of its own. Owned by one thread.
class BackgroundWork {
 public:
  struct Options {
    std::string database_url;
    std::size_t consumer_threads = 0;
    /// Called on one of the threads after an error that no retry corrects.
    std::function<void(const std::string& what)> on_defect;
  };

  /// All outlive it.
  BackgroundWork(const Options& options, const filter::CurrentFilter& filter,
                 resolve::SharedIds& ids, const Clock& server_clock);

  void start();
  /// Interrupts the work. Idempotent.
  void stop();

  /// Any thread.
  void add_metrics(status::Metrics& metrics) const;

 private:
  feed::LogMaintenance log_maintenance_;
  retention::Remover remover_;
  recheck::Rechecker rechecker_;
  feed::ConsumerPool consumers_;
};

}  // namespace skua::app
