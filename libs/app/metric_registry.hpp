#pragma once

#include <vector>

#include "status/metrics.hpp"

namespace skua::app {

/// The declarations of all metrics of `skua run` and `skua backfill`, each once.
std::vector<status::MetricDeclaration> metric_registry();

}  // namespace skua::app
