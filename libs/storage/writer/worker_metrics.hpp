#pragma once

#include <cstddef>

#include "base/metric.hpp"
#include "writer/router.hpp"

namespace skua::writer {

/// The counters of the writer since the start of the process. They never decrease. Any thread may
/// use them. A backfill shows some of them under other names (backfill::BackfillMetrics).
struct Counters {
  Counter events{"events", "skua_events_total", "events",
                 "Events that workers finished: written, unchanged, or dead letters"};
  Counter rows{"rows", "skua_rows_total", "rows",
               "Rows whose content was inserted, changed or deleted"};
  Counter transactions{"transactions", "skua_transactions_total", "transactions",
                       "Transactions that were committed"};
  Counter unchanged{"unchanged", "skua_unchanged_events_total", "events",
                    "Events that changed nothing: the row was newer, a tombstone or the minimum "
                    "revision excluded them, or a later event of the batch replaced them"};
  Counter dead_letters{"dead_letters", "skua_dead_letters_total", "events",
                       "Events that became dead letters"};
  Counter set_aside{"", "skua_deferred_events_total", "events",
                    "Events that were deferred because another transaction held the lock of the "
                    "account"};
  Counter retries{"retries", "skua_transaction_retries_total", "transactions",
                  "Transactions that a failure of the server rolled back"};
  Counter nuls_removed{"nuls_removed", "skua_nuls_removed_total", "characters",
                       "NUL characters that were removed from texts, because PostgreSQL does not "
                       "store them"};
  Counter not_canonical{"not_canonical", "skua_not_canonical_records_total", "records",
                        "Records whose blocks are not canonical DAG-CBOR; they are indexed"};
};

/// Returns the name of the worker with an index of worker_index, such as `live like 0`. The text is
/// static.
const char* worker_name(std::size_t index);

/// The metrics of the workers of a pool. The workers write them, and any thread reads them.
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
