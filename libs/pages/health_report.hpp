#pragma once

#include <string>
#include <vector>

#include "http_server/response.hpp"
#include "pages/health.hpp"
#include "status/metrics.hpp"
#include "status/prometheus_text.hpp"

namespace skua::pages {

/// The answer of `/health/ready`: 200 or 503 with `status` (`ready`, `not-ready`, `starting`,
/// `stopping`), `reasons` and `warnings`. Each of these is an object with `code`, `title`, `detail`
/// and `cure`. Pure.
http_server::Response ready_response(const Health& health);

/// `skua_problem` for each problem that `judge` can report: 1 if it is a reason or a warning.
std::vector<status::LabelledMetric> problem_metrics(const Health& health);

/// Its declaration.
status::MetricDeclaration problem_metric_declaration();

}  // namespace skua::pages
