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
#include "status/backfill_metrics.hpp"
#include "store/outage.hpp"

namespace skua::status {

// A backfill in words. Pure; any thread.

/// What is known of a running backfill at one moment.
struct BackfillSnapshot {
  Timestamp at;
  backfill::BackfillMetrics metrics;
  BackfillRates rates;
  /// Nothing: it was not counted yet.
  std::optional<BackfillQueue> queue;
  /// Of the database, at this moment.
  std::optional<store::Outage> outage = std::nullopt;
};

/// For pipes and logs, at most 80 columns wide:
///
///   12:00:05  1,204 repositories done, 64 under way, 48,210 queued  41230 records/s
///             18.2 MB/s  80 min left  3 failed attempts
std::string backfill_line(const BackfillSnapshot& moment);

/// In short, beside what is about something else: `backfill: 1,204 done, 64 under way, 48,210
/// queued`.
std::string backfill_summary(const BackfillSnapshot& moment);

/// The same and more for a terminal, none longer than `width` characters.
std::vector<std::string> backfill_screen(const BackfillSnapshot& moment, std::size_t width);

/// When nothing is under way and the first job or list that waits is due later: for how long, and
/// why; else empty.
std::string waiting_text(const BackfillSnapshot& moment);

/// What of `skua status` is about history; empty when none was ever asked for. `backfill`: as
/// read_backfill_status gives it.
std::string backfill_status_text(const nlohmann::json& backfill);

/// 1234567: `1,234,567`.
std::string with_commas(std::int64_t number);
/// `1 row`, `1,234 rows`.
std::string counted_with_commas(std::int64_t number, std::string_view noun);

}  // namespace skua::status
