#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "backfill/backfiller.hpp"
#include "base/time.hpp"
#include "postgres/outage.hpp"
#include "status/backfill_metrics.hpp"

namespace skua::status {

// Texts about a backfill, for people. Pure functions; any thread.

/// The state of a running backfill at one time.
struct BackfillSnapshot {
  Timestamp at;
  backfill::BackfillMetrics metrics;
  BackfillRates rates;
  /// Nothing: not counted yet.
  std::optional<BackfillQueue> queue;
  /// Of the database, at this time.
  std::optional<postgres::Outage> outage = std::nullopt;
};

/// For pipes and logs, at most 80 columns wide:
///
///   12:00:05  1,204 repositories done, 64 under way, 48,210 queued  41230 records/s
///             18.2 MB/s  80 min left  3 failed attempts
std::string backfill_line(const BackfillSnapshot& moment);

/// Short, for the metrics line of `skua run`: `backfill: 1,204 done, 64 under way, 48,210 queued`.
std::string backfill_summary(const BackfillSnapshot& moment);

/// Longer, for a terminal; no line is longer than `width` characters.
std::vector<std::string> backfill_screen(const BackfillSnapshot& moment, std::size_t width);

/// If nothing is active and the next job or list is due later: how long the wait is, and why. Else
/// empty.
std::string waiting_text(const BackfillSnapshot& moment);

/// The backfill part of `skua status`; empty: there never was a backfill. `backfill`: the result of
/// read_backfill_status.
std::string backfill_status_text(const nlohmann::json& backfill);

/// `1 row`, `1,234 rows`.
std::string counted_with_commas(std::int64_t number, std::string_view noun);

}  // namespace skua::status
