#pragma once

#include <cstdint>

#include "base/metric.hpp"
#include "postgres/session.hpp"
#include "postgres/session_thread.hpp"

namespace skua::consumers {

/// Metrics of the change log. Written by the maintenance, read by any thread.
struct LogMetrics {
  Gauge changes{"change_log_changes", "skua_change_log_changes", "changes",
                "Changes since the beginning of the change log"};
  Gauge bytes{"change_log_bytes", "skua_change_log_bytes", "bytes",
              "Size of the change log on disk"};
  Counter dropped{"change_log_partitions_dropped", "skua_change_log_partitions_dropped_total",
                  "partitions", "Partitions of the change log that were dropped"};
};

/// Creates the next two partitions of the change log. Drops the partitions that are older than
/// `skua.change_log_state.retention`, and the oldest ones while the log is larger than `max_bytes`.
/// Never drops the partition with the newest change, because the next position follows from that
/// change. If a reader blocks a drop for half a second, the next call drops the partition. Runs
/// outside a transaction. Several processes may call this function at the same time. Throws
/// postgres::SqlError.
void maintain_change_log(postgres::Session& session, LogMetrics& metrics);

/// The size of the change log on disk, and `skua.change_log_state.max_bytes`.
struct LogSize {
  std::int64_t bytes = 0;
  std::int64_t max_bytes = 0;
};

LogSize read_log_size(postgres::Session& session);

/// Calls `maintain_change_log` and `tables::purge_finished_letters` at the start and every minute,
/// on its own thread and connection. While the database is down the thread waits.
class LogMaintenance {
 public:
  explicit LogMaintenance(postgres::Runtime& runtime);

  void start() { thread_.start(); }
  /// Idempotent.
  void stop() { thread_.stop(); }

  const LogMetrics& metrics() const { return metrics_; }

 private:
  LogMetrics metrics_;
  postgres::SessionThread thread_;
};

}  // namespace skua::consumers
