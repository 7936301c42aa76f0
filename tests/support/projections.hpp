#pragma once

#include <stdexcept>
#include <string>

#include "feed/consumers/consumer_table.hpp"
#include "feed/consumers/fold_step.hpp"
#include "feed/consumers/projection_upkeep.hpp"
#include "feed/projections/projection.hpp"
#include "store/session.hpp"

namespace skua::test {

/// Applies batches until nothing is left, or `steps` of them.
inline void fold_changes(store::Session& session, int steps = 1'000'000) {
  feed::ConsumerMetrics metrics;
  for (int i = 0; i < steps; ++i) {
    if (feed::fold_step(session, metrics) == feed::StepResult::Idle) return;
  }
}

/// Builds all projections that wait for it, and shows and drops their tables.
inline void maintain_projections(store::Session& session) {
  feed::ConsumerMetrics metrics;
  while (feed::build_projection(session, metrics)) {
  }
  while (feed::exchange_projection(session)) {
  }
  while (feed::drop_retired_projection(session)) {
  }
}

/// Adds and builds all projections. Their batches have `batch` changes and never wait.
inline void add_projections(store::Session& session, int batch) {
  feed::prepare_fold_session(session);
  for (const feed::Projection& projection : feed::projections()) {
    feed::add_consumer(
        session, {.name = projection.name,
                  .lanes = projection.has_lanes ? std::int16_t{2} : std::int16_t{1},
                  .overrides = "{\"pause_ms\": 0, \"batch\": " + std::to_string(batch) + "}"});
  }
  maintain_projections(session);
}

/// Applies all changes, and compares the projections with the records. Returns up to ten
/// differences of each, in a line each.
inline std::string projection_differences(store::Session& session) {
  fold_changes(session);
  feed::ConsumerMetrics metrics;
  std::string text;
  for (const feed::Projection& projection : feed::projections()) {
    const auto differences =
        feed::check_projection(session, projection.name, std::nullopt, metrics);
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
