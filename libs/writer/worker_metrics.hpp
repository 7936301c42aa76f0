#pragma once

#include <cstddef>

#include "base/metric.hpp"
#include "writer/router.hpp"

namespace skua::writer {

/// Such as `live like 0`, by worker_index. A literal or static text.
const char* worker_name(std::size_t index);

/// Of the workers of a pool. The workers write it, any thread reads it.
struct WorkerMetrics {
  GaugeFamily<kWorkers> queued{"",       "skua_worker_queued_events",
                               "events", "Events in the queue of a worker",
                               "worker", worker_name};
  CounterFamily<kWorkers> finished{
      "",       "skua_worker_events_total",
      "events", "Events that a worker finished: written, unchanged, or dead letters",
      "worker", worker_name};
  Histogram queue_wait{
      "queue_wait_ms", "skua_queue_wait_seconds",
      "Time from the routing of events to the worker that takes them from its queue"};
  Histogram transaction{"transaction_ms", "skua_transaction_seconds",
                        "Duration of a transaction of a worker, from the look-up of accounts to "
                        "the commit; failed ones are left out"};
};

}  // namespace skua::writer
