#include "app/metric_registry.hpp"

#include "base/metric_group.hpp"
#include "change_feed/feed_metrics.hpp"
#include "feed/consumers/fold_step.hpp"
#include "feed/log_maintenance.hpp"
#include "retention/removal.hpp"
#include "sources/source_metrics.hpp"
#include "status/backfill_metrics.hpp"
#include "status/consumer_metrics.hpp"

namespace skua::app {

std::vector<status::MetricDeclaration> metric_registry() {
  std::vector<status::MetricDeclaration> all = sources::source_metric_declarations();
  for (const MetricValue& metric : values_of(feed::LogMetrics())) {
    all.push_back({metric.info, metric.kind});
  }
  for (const MetricValue& metric : values_of(feed::ConsumerMetrics())) {
    all.push_back({metric.info, metric.kind});
  }
  for (const MetricValue& metric : values_of(retention::RemovalMetrics())) {
    all.push_back({metric.info, metric.kind});
  }
  for (const status::MetricDeclaration& metric : status::consumer_metric_declarations()) {
    all.push_back(metric);
  }
  for (const MetricValue& metric : values_of(change_feed::FeedMetrics())) {
    all.push_back({metric.info, metric.kind});
  }
  for (const MetricValue& metric : status::all_metrics(backfill::BackfillMetrics(), {})) {
    all.push_back({metric.info, metric.kind});
  }
  return all;
}

}  // namespace skua::app
