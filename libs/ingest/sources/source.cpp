#include "sources/source.hpp"

#include "accounts/handle_verifier.hpp"
#include "base/metric.hpp"
#include "pipeline/pipeline.hpp"
#include "tables/dead_letters.hpp"

namespace skua::sources {

using Kind = CursorChoice::Kind;

std::optional<std::int64_t> start_position(const CursorChoice& choice,
                                           std::optional<std::int64_t> saved) {
  switch (choice.kind) {
    case Kind::Saved:
      return saved;
    case Kind::Live:
      return std::nullopt;
    case Kind::Oldest:
      return 0;
    case Kind::At:
      return choice.seq;
    case Kind::Resume:
      return saved.value_or(choice.seq);
  }
  return saved;
}

CursorChoice resumed(CursorChoice choice, std::optional<std::int64_t> began) {
  if (began) return {Kind::Resume, *began};
  if (choice.kind == Kind::Oldest) return {Kind::Resume, 0};
  if (choice.kind == Kind::At) choice.kind = Kind::Resume;
  return choice;
}

pipeline::Metrics uncounted_metrics() {
  pipeline::Metrics metrics;
  pipeline::add_counts(metrics, {.intake = pipeline::IntakeCounters(),
                                 .written = writer::Counters(),
                                 .dead_letters = tables::DeadLetterCounters(),
                                 .gauges = pipeline::PipelineGauges()});
  metrics.add(pipeline::MetricScope::Process, values_of(accounts::HandleCounters()));
  return metrics;
}

std::vector<pipeline::MetricDeclaration> source_metric_declarations() {
  pipeline::Metrics metrics = uncounted_metrics();
  metrics.add(pipeline::MetricScope::Source, values_of(ConnectionCounters()));
  return pipeline::declarations(metrics);
}

}  // namespace skua::sources
