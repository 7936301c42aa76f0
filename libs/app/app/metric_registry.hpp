#pragma once

#include <vector>

#include "pipeline/metrics.hpp"

namespace skua::app {

/// Returns the declarations of all metrics of `skua run`, `skua backfill` and `skua serve`. Each
/// metric occurs once.
std::vector<pipeline::MetricDeclaration> metric_registry();

}  // namespace skua::app
