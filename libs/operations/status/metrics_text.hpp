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
std::string metrics_text(const Rates& rates, const std::vector<pipeline::Metrics>& sources,
                         const std::optional<postgres::Outage>& outage,
                         const std::vector<std::string_view>& problems = {});

/// `database down since 14:37:56 (12 s)`, for lines of a process that uses the database.
std::string outage_text(const postgres::Outage& outage, Timestamp now);

/// A metric with the labels that tell it from others of its name.
struct LabelledMetric {
  MetricValue metric;
  std::vector<std::pair<std::string, std::string>> labels = {};
};

/// The metrics of a process's sources. A metric of the process has no label, all others have
/// `source`. A relay that stands by has only the metrics that are its own: zeros would be a reset
/// of its counters, and a jump when it takes over.
std::vector<LabelledMetric> labelled(const std::vector<pipeline::Metrics>& sources);

/// Metrics of the process: they have no label.
std::vector<LabelledMetric> labelled(std::vector<MetricValue> metrics);

/// The metrics of a backfill.
std::vector<LabelledMetric> labelled(const backfill::BackfillMetrics& metrics,
                                     const BackfillRates& rates);

/// Metrics in the text format of Prometheus, version 0.0.4
/// (prometheus.io/docs/instrumenting/exposition_formats). Metrics of one name form one group, in
/// the order of their first values. Pure; any thread.
std::string prometheus_text(const std::vector<LabelledMetric>& metrics);

}  // namespace skua::status
