#include "pages/health_report.hpp"

#include <nlohmann/json.hpp>

namespace skua::pages {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kLabel = "code";

constexpr MetricInfo kProblem{"", "skua_problem", "",
                              "State of a problem: 1 if /health/ready lists it as a reason or as a "
                              "warning, otherwise 0 (skua help problems)"};

const char* status_of(const Health& health) {
  switch (health.phase) {
    case ProcessState::Phase::Starting:
      return "starting";
    case ProcessState::Phase::Stopping:
      return "stopping";
    case ProcessState::Phase::Running:
      break;
  }
  return health.is_ready() ? "ready" : "not-ready";
}

Json to_json(const std::vector<Reason>& reasons) {
  Json all = Json::array();
  for (const Reason& reason : reasons) {
    all.push_back({{"code", reason.problem->code},
                   {"title", reason.problem->title},
                   {"detail", reason.detail},
                   {"subject", reason.subject.empty() ? Json() : Json(reason.subject)},
                   {"cure", reason.cure.empty() ? reason.problem->cure : reason.cure}});
  }
  return all;
}

}  // namespace

http_server::Response ready_response(const Health& health) {
  const Json body = {{"status", status_of(health)},
                     {"reasons", to_json(health.reasons)},
                     {"warnings", to_json(health.warnings)}};
  http_server::Response response;
  response.status = health.is_ready() ? 200 : 503;
  // A detail may quote the network.
  response.body = body.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  return response;
}

std::vector<status::LabelledMetric> problem_metrics(const Health& health) {
  std::vector<status::LabelledMetric> all;
  for (const Problem* problem : judged_problems()) {
    all.push_back({{kProblem, MetricKind::Gauge, health.has(problem->code)},
                   {{kLabel, std::string(problem->code)}}});
  }
  return all;
}

status::MetricDeclaration problem_metric_declaration() {
  return {kProblem, MetricKind::Gauge, kLabel};
}

}  // namespace skua::pages
