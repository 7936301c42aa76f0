#include "app/monitored_backfill.hpp"

#include <utility>

namespace skua::app {

MonitoredBackfill::MonitoredBackfill(store::Runtime& runtime, backfill::BackfillerOptions options,
                                     writer::WorkerPool& pool)
    : backfiller(runtime, options, pool),
      monitor(runtime, {.lease_owner = options.lease_owner,
                        .metrics = [this] { return backfiller.metrics(); },
                        .is_idle = [this] { return backfiller.is_idle(); }}) {}

void MonitoredBackfill::start() {
  backfiller.start();
  monitor.start();
}

void MonitoredBackfill::stop() {
  backfiller.stop();
  monitor.stop();
}

}  // namespace skua::app
