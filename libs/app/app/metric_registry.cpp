#include "app/metric_registry.hpp"

#include "accounts/plc_tail.hpp"
#include "admin/admin_api.hpp"
#include "base/metric.hpp"
#include "consumers/fold_step.hpp"
#include "consumers/log_maintenance.hpp"
#include "consumers/messages/message_sequencer.hpp"
#include "ids/reference_sender.hpp"
#include "pages/health.hpp"
#include "pipeline/signal_accounts.hpp"
#include "recheck/recheck.hpp"
#include "retention/removal.hpp"
#include "sources/labeler/discovery/discovered_labelers.hpp"
#include "sources/source.hpp"
#include "status/backfill_metrics.hpp"
#include "status/consumer_status.hpp"
#include "status/message_status.hpp"
#include "status/network_status.hpp"
#include "status/standby_status.hpp"
#include "streams/change_reader.hpp"
#include "writer/worker_metrics.hpp"
#include "xrpc/read_requests.hpp"

namespace skua::app {
namespace {

/// A node with a value of each metric.
const postgres::NodeState kSomeNode{.name = "west", .owned = "0", .age = 0};

}  // namespace

std::vector<pipeline::MetricDeclaration> metric_registry() {
  std::vector<pipeline::MetricDeclaration> all = sources::source_metric_declarations();
  const auto add = [&](const auto& metrics) {
    for (const MetricValue& metric : metrics) all.push_back({metric.info, metric.kind});
  };
  add(values_of(writer::WorkerMetrics()));
  add(values_of(consumers::LogMetrics()));
  add(values_of(consumers::ConsumerMetrics()));
  add(values_of(consumers::MessageMetrics()));
  add(values_of(retention::RemovalMetrics()));
  add(values_of(recheck::RecheckMetrics()));
  add(values_of(ids::ReferenceMetrics()));
  add(values_of(pipeline::SignalMetrics()));
  add(values_of(sources::LabelerMetrics()));
  add(values_of(accounts::PlcTailMetrics()));
  for (const pipeline::MetricDeclaration& metric : status::consumer_metric_declarations()) {
    all.push_back(metric);
  }
  add(status::values_of_inbox({}));
  add(status::values_of_standby(std::chrono::milliseconds(0)));
  for (const status::LabelledMetric& each : status::values_of_network({{kSomeNode}, {}})) {
    all.push_back({each.metric.info, each.metric.kind, "node"});
  }
  all.push_back(pages::problem_metric_declaration());
  add(values_of(admin::AdminMetrics()));
  add(values_of(streams::FeedMetrics()));
  add(values_of(xrpc::ReadMetrics()));
  add(status::all_metrics(backfill::BackfillMetrics(), {}));
  return all;
}

}  // namespace skua::app
