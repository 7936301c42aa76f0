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

/// The key of a backfill's metrics in `skua.metrics`: those of the process that wrote last.
inline const std::string kBackfillMetrics = "backfill";

/// Per second, over about the last minute.
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

/// The queue in the database: all jobs and lists by state, of all processes.
struct BackfillQueue {
  backfill::JobCounts jobs;
  std::map<std::string, backfill::ListCounts> lists;
  /// When the next page of a list is due; nothing: no list is queued or active.
  std::optional<Timestamp> next_page = std::nullopt;
  /// See backfill::list_errors.
  std::vector<backfill::ListError> list_errors = {};
};

/// All metrics of a backfill but those of its hosts.
std::vector<MetricValue> all_metrics(const backfill::BackfillMetrics& metrics,
                                     const BackfillRates& rates);

/// Keys and values, for `skua.metrics`. `lease_owner`: see backfill/queue/job_table.hpp.
nlohmann::json to_json(const backfill::BackfillMetrics& metrics, const BackfillRates& rates,
                       const std::string& lease_owner);

/// The same for `skua backfill status --json`.
nlohmann::json to_json(const BackfillQueue& queue);

nlohmann::json to_json(const std::vector<backfill::ListError>& errors);

/// The lists of each kind, by state.
nlohmann::json to_json(const std::map<std::string, backfill::ListCounts>& lists);

/// The name of a list's state.
std::string_view to_string(backfill::ListState state);

}  // namespace skua::status
