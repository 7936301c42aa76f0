#include "sources/source_metrics.hpp"

#include "accounts/handle_verifier.hpp"
#include "base/metric_group.hpp"
#include "ingest/pipeline.hpp"
#include "store/dead_letters.hpp"

namespace skua::sources {

status::Metrics uncounted_metrics() {
  status::Metrics metrics;
  ingest::add_counts(metrics, {.intake = ingest::IntakeCounters(),
                               .written = writer::Counters(),
                               .dead_letters = store::DeadLetterCounters(),
                               .gauges = ingest::PipelineGauges()});
  metrics.add(status::MetricScope::Process, values_of(accounts::HandleCounters()));
  return metrics;
}

std::vector<status::MetricDeclaration> source_metric_declarations() {
  status::Metrics metrics = uncounted_metrics();
  metrics.add(status::MetricScope::Source, values_of(ConnectionCounters()));
  return status::declarations(metrics);
}

}  // namespace skua::sources
