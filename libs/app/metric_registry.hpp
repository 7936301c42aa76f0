#pragma once

#include <vector>

#include "status/metrics.hpp"

namespace skua::app {

/// The declarations of all metrics of `skua run`, `skua backfill` and `skua serve`, each once.
std::vector<status::MetricDeclaration> metric_registry();

}  // namespace skua::app
