#pragma once

#include <vector>

#include "status/prometheus_text.hpp"
#include "store/session.hpp"

namespace skua::status {

/// The metrics of each consumer in the database, with the label `consumer`. Of a rebuild and the
/// live consumer of the same name, the live one has metrics. Throws store::SqlError.
std::vector<LabelledMetric> read_consumer_metrics(store::Session& session);

/// Their declarations.
std::vector<MetricDeclaration> consumer_metric_declarations();

}  // namespace skua::status
