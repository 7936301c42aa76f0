#include "app/metric_registry.hpp"

#include "accounts/plc_tail.hpp"
#include "admin/admin_metrics.hpp"
#include "base/metric_group.hpp"
#include "change_feed/feed_metrics.hpp"
#include "feed/consumers/fold_step.hpp"
#include "feed/log_maintenance.hpp"
#include "ingest/signal_accounts.hpp"
#include "pages/health_report.hpp"
#include "recheck/recheck.hpp"
#include "retention/removal.hpp"
#include "sources/labeler/discovery/labeler_metrics.hpp"
#include "sources/source_metrics.hpp"
#include "status/backfill_metrics.hpp"
#include "status/consumer_metrics.hpp"
#include "writer/worker_metrics.hpp"

namespace skua::app {

std::vector<status::MetricDeclaration> metric_registry() {
  std::vector<status::MetricDeclaration> all = sources::source_metric_declarations();
  const auto add = [&](const auto& metrics) {
    for (const MetricValue& metric : metrics) all.push_back({metric.info, metric.kind});
  };
  add(values_of(writer::WorkerMetrics()));
  add(values_of(feed::LogMetrics()));
  add(values_of(feed::ConsumerMetrics()));
  add(values_of(retention::RemovalMetrics()));
  add(values_of(recheck::RecheckMetrics()));
  add(values_of(ingest::SignalMetrics()));
  add(values_of(sources::LabelerMetrics()));
  add(values_of(accounts::PlcTailMetrics()));
  for (const status::MetricDeclaration& metric : status::consumer_metric_declarations()) {
    all.push_back(metric);
  }
  all.push_back(pages::problem_metric_declaration());
  add(values_of(admin::AdminMetrics()));
  add(values_of(change_feed::FeedMetrics()));
  add(status::all_metrics(backfill::BackfillMetrics(), {}));
  return all;
}

}  // namespace skua::app
