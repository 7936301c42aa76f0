#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include <nlohmann/json.hpp>

#include "base/time.hpp"
#include "postgres/runtime.hpp"
#include "postgres/session.hpp"
#include "status/backfill_metrics.hpp"
#include "status/backfill_text.hpp"

namespace skua::status {

/// Counts the queue at an interval, and writes the metrics of a running backfill to `skua.metrics`
/// for `skua status`. Has its own thread and connection. Never fails, because an error of the
/// metrics must not stop the process.
class BackfillMonitor {
 public:
  struct Options {
    std::string lease_owner;
    std::chrono::milliseconds interval{5'000};
    std::function<backfill::BackfillMetrics()> metrics;
    /// While this function returns true and no job ends, the queue is counted and written only
    /// once.
    std::function<bool()> is_idle;
  };

  BackfillMonitor(postgres::Runtime& runtime, Options options);
  ~BackfillMonitor();

  void start();
  /// Writes the metrics a last time, and ends the thread. Idempotent.
  void stop();

  /// Returns the current metrics, and the queue as it was counted last. Any thread.
  BackfillSnapshot moment() const;

 private:
  void run(const std::stop_token& stop);
  void look(postgres::Session& session);

  postgres::Runtime& runtime_;
  const Options options_;
  const Clock& clock_;
  mutable std::mutex mutex_;
  std::condition_variable_any wake_;
  BackfillRateWindow pace_;
  BackfillRates rates_;
  std::optional<BackfillQueue> queue_;
  std::jthread thread_;
};

/// Reads the queue, with at most `hosts` hosts.
BackfillQueue read_backfill_queue(postgres::Session& session, std::size_t hosts);

/// Reads jobs, lists, and the metrics of the process that wrote last, for `skua status` and `skua
/// backfill status`. Throws postgres::SqlError.
nlohmann::json read_backfill_status(postgres::Session& session);

}  // namespace skua::status
