#pragma once

#include <functional>
#include <string>

#include "backfill/backfiller.hpp"
#include "base/time.hpp"
#include "status/backfill_monitor.hpp"
#include "writer/worker_pool.hpp"

namespace skua::app {

/// A backfill of `skua run`, and the monitor that saves and shows its metrics. Owned by the
/// indexer; `pool` and `clock` must outlive it. The members do their work on threads of their own.
struct MonitoredBackfill {
  backfill::Backfiller backfiller;
  status::BackfillMonitor monitor;

  MonitoredBackfill(backfill::BackfillerOptions options, writer::WorkerPool& pool,
                    const Clock& clock, std::function<void(const std::string&)> on_defect);

  void start();
  void stop();
};

}  // namespace skua::app
