#pragma once

#include <cstdint>
#include <stdexcept>
#include <string_view>
#include <variant>

#include "pipeline/metrics.hpp"
#include "pipeline/pipeline.hpp"

namespace skua::test {

/// Metrics with all counts of a pipeline, which are 0.
inline pipeline::Metrics made_metrics() {
  pipeline::Metrics metrics;
  pipeline::add_counts(metrics, {.intake = pipeline::IntakeCounters(),
                                 .written = writer::Counters(),
                                 .dead_letters = tables::DeadLetterCounters(),
                                 .gauges = pipeline::PipelineGauges()});
  return metrics;
}

/// The count with this key in JSON.
inline std::uint64_t& count_of(pipeline::Metrics& metrics, std::string_view key) {
  for (pipeline::ScopedMetric& each : metrics.counts) {
    if (each.metric.info.key == key) return std::get<std::uint64_t>(each.metric.value);
  }
  throw std::out_of_range("no count has this key");
}

}  // namespace skua::test
