#pragma once

#include <nlohmann/json.hpp>

#include "base/metric.hpp"

namespace skua::pipeline {

/// Adds a metric to a JSON object under its key; one without a key is left out. A time becomes a
/// datetime, a CountFamily an object without zeros.
void add_to(nlohmann::json& object, const MetricValue& metric);

}  // namespace skua::pipeline
