#include "pages/node_pages.hpp"

#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/problem.hpp"
#include "base/time.hpp"
#include "pages/dashboard.hpp"

namespace skua::pages {
namespace {

using http_server::Exchange;
using http_server::Method;
using http_server::Response;

/// The time between two reads of the nodes, and between two samples of the metrics.
constexpr std::chrono::seconds kNodesRead = History::kInterval;

Health health_of(const std::optional<status::NetworkStatus>& network, const std::string& error) {
  Health health;
  if (!network) {
    health.reasons.push_back(
        {&problem("database-down"), error.empty() ? "the nodes have not been read yet" : error});
    return health;
  }
  for (const postgres::NodeState& node : network->nodes) {
    if (node.problem.empty()) continue;
    health.warnings.push_back(
        {&problem("node-failed"), fmt::format("{}: {}", node.name, node.problem), node.name});
  }
  if (network->missing_groups) {
    health.warnings.push_back({&problem("groups-missing"), fmt::format("no node owns the groups {}",
                                                                       *network->missing_groups)});
  }
  return health;
}

}  // namespace

NodePages::NodePages(postgres::Runtime& runtime, ReadMetrics metrics)
    : metrics_(std::move(metrics)),
      thread_(runtime,
              {.session_name = "skua serve pages",
               .component = "pages",
               .failure = "the nodes cannot be read",
               .retries_sql_errors = true},
              [this](postgres::LazySession& session, const std::stop_token& /*stop*/) {
                return round(session);
              }) {}

std::chrono::milliseconds NodePages::round(postgres::LazySession& session) {
  samples_.with([this](Samples& samples) {
    const auto all = metrics_();
    samples.history.add(all, system_clock().now());
    samples.process.add(all, std::chrono::steady_clock::now());
  });
  try {
    Observation now{status::read_network_status(session.get()), {}};
    observation_.with([&](Observation& last) { last = std::move(now); });
  } catch (const postgres::SqlError& error) {
    observation_.with([&](Observation& last) { last = {std::nullopt, error.what()}; });
    throw;
  }
  return kNodesRead;
}

NodePages::Observation NodePages::observation() const {
  return observation_.with([](const Observation& last) { return last; });
}

std::vector<status::LabelledMetric> NodePages::metrics() const {
  const auto [network, error] = observation();
  auto all = metrics_();
  for (auto& metric : problem_metrics(health_of(network, error))) {
    all.push_back(std::move(metric));
  }
  if (network) {
    for (auto& metric : status::values_of_network(*network)) all.push_back(std::move(metric));
  }
  return all;
}

void NodePages::add_routes(http_server::Server::Routes& routes) {
  const auto add = [&](const char* path, std::function<Response()> response) {
    routes[path] = {Method::Get, [response](const std::shared_ptr<Exchange>& exchange) {
                      exchange->answer(response());
                    }};
  };
  add("/health/live", [] { return Response{.body = R"({"status":"live","stuck":[]})"}; });
  add("/health/ready", [this] {
    const auto [network, error] = observation();
    return ready_response(health_of(network, error));
  });
  add("/metrics", [this] {
    return Response{.content_type = "text/plain; version=0.0.4",
                    .body = status::prometheus_text(metrics())};
  });
  add("/status/process", [this] {
    return Response{.body = samples_.with([this](const Samples& samples) {
      return samples.process.json(metrics(), {}, std::chrono::steady_clock::now());
    })};
  });
  routes["/history"] = {
      Method::Get, [this](const std::shared_ptr<Exchange>& exchange) {
        const auto names = http_server::parameters(exchange->request(), "metric");
        exchange->answer(Response{.body = samples_.with([&](const Samples& samples) {
          return samples.history.json(names);
        })});
      }};
  add_dashboard(routes, "serve (nodes)");
  add("/status", [this] {
    const auto [network, error] = observation();
    if (network) return Response{.body = status::network_json(*network).dump()};
    return http_server::error_response(503, "DatabaseUnavailable",
                                       "the nodes have not been read: " + error);
  });
}

}  // namespace skua::pages
