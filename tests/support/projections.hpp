#pragma once

#include <stdexcept>
#include <string>

#include "consumers/consumer_table.hpp"
#include "consumers/fold_step.hpp"
#include "consumers/projection_upkeep.hpp"
#include "consumers/projections/projection.hpp"
#include "postgres/session.hpp"

namespace skua::test {

/// Applies batches until nothing is left, or `steps` of them.
inline void fold_changes(postgres::Session& session, int steps = 1'000'000) {
  consumers::ConsumerMetrics metrics;
  for (int i = 0; i < steps; ++i) {
    if (consumers::fold_step(session, metrics) == consumers::StepResult::Idle) return;
  }
}

/// Builds all projections that wait for it, and shows and drops their tables.
inline void maintain_projections(postgres::Session& session) {
  consumers::ConsumerMetrics metrics;
  while (consumers::build_projection(session, metrics)) {
  }
  while (consumers::exchange_projection(session)) {
  }
  while (consumers::drop_retired_projection(session)) {
  }
}

/// Adds and builds all projections. Their batches have `batch` changes and never wait.
inline void add_projections(postgres::Session& session, int batch) {
  consumers::prepare_fold_session(session);
  for (const consumers::Projection& projection : consumers::projections()) {
    consumers::add_consumer(
        session, {.name = projection.name,
                  .lanes = projection.has_lanes ? std::int16_t{2} : std::int16_t{1},
                  .overrides = "{\"pause_ms\": 0, \"batch\": " + std::to_string(batch) + "}"});
  }
  maintain_projections(session);
}

/// Applies all changes, and compares the projections with the records. Returns up to ten
/// differences of each, in a line each.
inline std::string projection_differences(postgres::Session& session) {
  fold_changes(session);
  consumers::ConsumerMetrics metrics;
  std::string text;
  for (const consumers::Projection& projection : consumers::projections()) {
    const auto differences =
        consumers::check_projection(session, projection.name, std::nullopt, metrics);
    if (!differences) {
      text += projection.name + " is not built\n";
      continue;
    }
    for (const std::string& difference : *differences) {
      text += projection.name + ": " + difference + "\n";
    }
  }
  return text;
}

}  // namespace skua::test
