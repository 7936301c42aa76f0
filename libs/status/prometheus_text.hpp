#pragma once

#include <string>
#include <utility>
#include <vector>

#include "backfill/backfiller.hpp"
#include "base/metric.hpp"
#include "status/backfill_metrics.hpp"
#include "status/metrics.hpp"

namespace skua::status {

/// A metric with the labels that tell it from others of its name.
struct LabelledMetric {
  MetricValue metric;
  std::vector<std::pair<std::string, std::string>> labels = {};
};

/// The metrics of a process's sources. A metric of the process has no label, all others have
/// `source`. A relay that stands by has only the metrics that are its own: zeros would be a reset
/// of its counters, and a jump when it takes over.
std::vector<LabelledMetric> labelled(const std::vector<Metrics>& sources);

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
