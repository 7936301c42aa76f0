#include "app/monitored_backfill.hpp"

#include <utility>

namespace skua::app {

MonitoredBackfill::MonitoredBackfill(backfill::BackfillerOptions options, writer::WorkerPool& pool,
                                     const Clock& clock,
                                     std::function<void(const std::string&)> on_defect)
    : backfiller(options, pool, clock, std::move(on_defect)),
      monitor({.database_url = options.database_url,
               .lease_owner = options.lease_owner,
               .metrics = [this] { return backfiller.metrics(); },
               .is_idle = [this] { return backfiller.is_idle(); }},
              clock) {}

void MonitoredBackfill::start() {
  backfiller.start();
  monitor.start();
}

void MonitoredBackfill::stop() {
  backfiller.stop();
  monitor.stop();
}

}  // namespace skua::app
