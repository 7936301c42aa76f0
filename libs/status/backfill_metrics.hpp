#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "backfill/backfiller.hpp"
#include "backfill/discovery/host_table.hpp"
#include "backfill/queue/job_counts.hpp"
#include "base/time.hpp"

namespace skua::status {

/// Where the metrics of a backfill stand in `skua.figures`: those of the process that wrote last.
inline const std::string kBackfillMetrics = "backfill";

/// A second, of the last minute about.
struct BackfillRates {
  double repositories = 0;
  double records = 0;
  double bytes = 0;
};

/// Works out rates. One thread.
class BackfillRateWindow {
 public:
  /// What happened until `now`; gives the rates until then.
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

/// What waits in the database and what became of the rest, whoever works on it.
struct BackfillQueue {
  backfill::JobCounts jobs;
  std::map<std::string, backfill::ListCounts> lists;
  /// When the next page of a list is due; nothing: no list waits or is read.
  std::optional<Timestamp> next_page = std::nullopt;
};

/// Names and values, for `skua.figures`. `holder`: see backfill/queue/job_table.hpp.
nlohmann::json to_json(const backfill::BackfillMetrics& metrics, const BackfillRates& rates,
                       const std::string& holder);

/// The same for `skua backfill status --json`.
nlohmann::json to_json(const BackfillQueue& queue);

/// The lists of each kind, by state.
nlohmann::json to_json(const std::map<std::string, backfill::ListCounts>& lists);

/// The words of a list's state.
std::string_view to_string(backfill::ListState state);

}  // namespace skua::status
