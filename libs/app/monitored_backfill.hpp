#pragma once

#include "backfill/backfiller.hpp"
#include "status/backfill_monitor.hpp"
#include "writer/worker_pool.hpp"

namespace skua::app {

/// A backfill, and the monitor that saves and shows its metrics. Owned by `Indexer` or
/// `BackfillRun`; `pool` must outlive it. The members do their work on threads of their own.
struct MonitoredBackfill {
  backfill::Backfiller backfiller;
  status::BackfillMonitor monitor;

  MonitoredBackfill(store::Runtime& runtime, backfill::BackfillerOptions options,
                    writer::WorkerPool& pool);

  void start();
  void stop();
};

}  // namespace skua::app
