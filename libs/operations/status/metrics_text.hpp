#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backfill/backfiller.hpp"
#include "base/metric.hpp"
#include "pipeline/metrics.hpp"
#include "postgres/outage.hpp"
#include "status/backfill_metrics.hpp"
#include "status/rate_window.hpp"

namespace skua::status {

/// Returns the metrics of a process as a text for people, at most 80 columns wide:
///
///   14:38:08  812 events/s  790 rows/s  lag 0.4 s  p50/p99 9/31 ms  cursor 12345678
///             disk +6.8 MB/min  2 dead letters
///
/// Rates and latencies (from reading a frame to its commit) cover the last minute. While the
/// database is down, the outage replaces the rates:
///
///   14:38:08  database down since 14:37:56 (12 s)  lag 12.3 s  cursor 12345678
///
/// If there are several sources, each has its own line with its lag and its cursor:
///
///             relay:a.example active  lag 0.4 s  cursor 12345678
///             relay:b.example standby  cursor 87
///
/// Problems have a line with their codes, which `skua help CODE` explains:
///
///             problems: source-down  collection-quiet
std::string metrics_text(const Rates& rates, const std::vector<pipeline::Metrics>& sources,
                         const std::optional<postgres::Outage>& outage,
                         const std::vector<std::string_view>& problems = {});

/// Returns `database down since 14:37:56 (12 s)` for lines of a process that uses the database.
std::string outage_text(const postgres::Outage& outage, Timestamp now);

/// A metric with the labels that distinguish it from other metrics of its name.
struct LabelledMetric {
  MetricValue metric;
  std::vector<std::pair<std::string, std::string>> labels = {};
};

/// Returns the metrics of a process's sources. A metric of the process has no label; all others
/// have `source`. A standby has only its own metrics, because zeros would be a reset of its
/// counters, and a jump when it takes over.
std::vector<LabelledMetric> labelled(const std::vector<pipeline::Metrics>& sources);

/// Returns metrics of the process, which have no label.
std::vector<LabelledMetric> labelled(std::vector<MetricValue> metrics);

/// Returns the metrics of a backfill with their labels.
std::vector<LabelledMetric> labelled(const backfill::BackfillMetrics& metrics,
                                     const BackfillRates& rates);

/// Returns metrics in the text format of Prometheus, version 0.0.4
/// (prometheus.io/docs/instrumenting/exposition_formats). Metrics of one name form one group. The
/// groups have the order of their first values. Pure; any thread.
std::string prometheus_text(const std::vector<LabelledMetric>& metrics);

}  // namespace skua::status
