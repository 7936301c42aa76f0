#pragma once

#include <cstdint>
#include <stdexcept>
#include <string_view>
#include <variant>

#include "ingest/pipeline.hpp"
#include "status/metrics.hpp"

namespace skua::test {

/// Metrics with all counts of a pipeline, which are 0.
inline status::Metrics made_metrics() {
  status::Metrics metrics;
  ingest::add_counts(metrics, {.intake = ingest::IntakeCounters(),
                               .written = writer::Counters(),
                               .dead_letters = store::DeadLetterCounters(),
                               .gauges = ingest::PipelineGauges()});
  return metrics;
}

/// The count with this key in JSON.
inline std::uint64_t& count_of(status::Metrics& metrics, std::string_view key) {
  for (status::ScopedMetric& each : metrics.counts) {
    if (each.metric.info.key == key) return std::get<std::uint64_t>(each.metric.value);
  }
  throw std::out_of_range("no count has this key");
}

}  // namespace skua::test
