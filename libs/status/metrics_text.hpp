#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "status/metrics.hpp"
#include "status/rate_window.hpp"
#include "store/outage.hpp"

namespace skua::status {

/// The metrics of a process for people, at most 80 columns wide:
///
///   14:38:08  812 events/s  790 rows/s  lag 0.4 s  p50/p99 9/31 ms  cursor 12345678
///             disk +6.8 MB/min  2 dead letters
///
/// Rates and latencies (from reading a frame to its commit) are of the last minute. While the
/// database is down the line says so instead of how fast it is:
///
///   14:38:08  database down since 14:37:56 (12 s)  lag 12.3 s  cursor 12345678
///
/// Each of several sources has a line of its own, with its lag and its cursor:
///
///             relay:a.example active  lag 0.4 s  cursor 12345678
///             relay:b.example standby  cursor 87
///
/// Problems have a line with their codes, which `skua help CODE` explains:
///
///             problems: source-down  collection-quiet
std::string metrics_text(const Rates& rates, const std::vector<Metrics>& sources,
                         const std::optional<store::Outage>& outage,
                         const std::vector<std::string_view>& problems = {});

/// `database down since 14:37:56 (12 s)`, for lines of a process that uses the database.
std::string outage_text(const store::Outage& outage, Timestamp now);

}  // namespace skua::status
