#pragma once

#include <nlohmann/json.hpp>

#include "base/metric.hpp"

namespace skua::pipeline {

/// Adds a metric to a JSON object under its key. A metric without a key is left out. A time becomes
/// a datetime, and a CountFamily becomes an object without zeros.
void add_to(nlohmann::json& object, const MetricValue& metric);

}  // namespace skua::pipeline
