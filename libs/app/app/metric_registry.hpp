#pragma once

#include <vector>

#include "pipeline/metrics.hpp"

namespace skua::app {

/// The declarations of all metrics of `skua run`, `skua backfill` and `skua serve`, each once.
std::vector<pipeline::MetricDeclaration> metric_registry();

}  // namespace skua::app
