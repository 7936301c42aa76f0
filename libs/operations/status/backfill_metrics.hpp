#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "backfill/backfiller.hpp"
#include "backfill/discovery/list_table.hpp"
#include "backfill/queue/job_table.hpp"
#include "base/metric.hpp"
#include "base/time.hpp"

namespace skua::status {

/// The key of a backfill's metrics in `skua.metrics`. The metrics are those of the process that
/// wrote last.
inline const std::string kBackfillMetrics = "backfill";

/// The rates per second over about the last minute.
struct BackfillRates {
  double repositories = 0;
  double records = 0;
  double bytes = 0;
};

/// Computes rates. One thread.
class BackfillRateWindow {
 public:
  /// Adds the metrics at `now`; returns the rates until then.
  BackfillRates add(const backfill::BackfillMetrics& metrics, Timestamp now);

 private:
  struct Sample {
    Timestamp at;
    std::uint64_t repositories;
    std::uint64_t records;
    std::uint64_t bytes;
  };
  std::deque<Sample> samples_;
};

/// The queue in the database: the jobs and lists of all processes, counted by state.
struct BackfillQueue {
  backfill::JobCounts jobs;
  std::map<std::string, backfill::ListCounts> lists;
  /// The time at which the next page of a list is due; nothing if no list is queued or active.
  std::optional<Timestamp> next_page = std::nullopt;
  /// The errors as backfill::list_errors returns them.
  std::vector<backfill::ListError> list_errors = {};
};

/// Returns all metrics of a backfill except those of its hosts.
std::vector<MetricValue> all_metrics(const backfill::BackfillMetrics& metrics,
                                     const BackfillRates& rates);

/// Returns the metrics as keys and values for `skua.metrics`. backfill/queue/job_table.hpp
/// describes `lease_owner`.
nlohmann::json to_json(const backfill::BackfillMetrics& metrics, const BackfillRates& rates,
                       const std::string& lease_owner);

/// Returns the queue as keys and values for `skua backfill status --json`.
nlohmann::json to_json(const BackfillQueue& queue);

nlohmann::json to_json(const std::vector<backfill::ListError>& errors);

/// Returns the numbers of lists of each kind, by state.
nlohmann::json to_json(const std::map<std::string, backfill::ListCounts>& lists);

/// Returns the name of a list's state.
std::string_view to_string(backfill::ListState state);

}  // namespace skua::status
