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

// The functions make texts about a backfill for people. Pure; any thread.

/// The state of a running backfill at one time.
struct BackfillSnapshot {
  Timestamp at;
  backfill::BackfillMetrics metrics;
  BackfillRates rates;
  /// The counted queue; nothing if it has not been counted yet.
  std::optional<BackfillQueue> queue;
  /// The outage of the database at this time; nothing if the database answers.
  std::optional<postgres::Outage> outage = std::nullopt;
};

/// Returns a text for pipes and logs, at most 80 columns wide:
///
///   12:00:05  1,204 repositories done, 64 under way, 48,210 queued  41230 records/s
///             18.2 MB/s  80 min left  3 failed attempts
std::string backfill_line(const BackfillSnapshot& moment);

/// Returns a short text for the metrics line of `skua run`: `backfill: 1,204 done, 64 under way,
/// 48,210 queued`.
std::string backfill_summary(const BackfillSnapshot& moment);

/// Returns a longer text for a terminal. No line is longer than `width` characters.
std::vector<std::string> backfill_screen(const BackfillSnapshot& moment, std::size_t width);

/// If nothing is active and the next job or list is due later, returns how long the wait is, and
/// its reason; otherwise an empty text.
std::string waiting_text(const BackfillSnapshot& moment);

/// Returns the backfill part of `skua status`; empty if there was never a backfill. `backfill` is
/// the result of read_backfill_status.
std::string backfill_status_text(const nlohmann::json& backfill);

/// Returns a number and a noun: `1 row`, `1,234 rows`.
std::string counted_with_commas(std::int64_t number, std::string_view noun);

}  // namespace skua::status
