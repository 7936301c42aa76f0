#include "app/metrics_page.hpp"

#include <utility>

#include "base/log.hpp"
#include "status/consumer_metrics.hpp"
#include "store/process_name.hpp"

namespace skua::app {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kUntilNotified{60'000};

}  // namespace

MetricsPage::MetricsPage(Options options)
    : options_(std::move(options)),
      thread_({.database_url = options_.database_url,
               .session_name = store::process_name("skua metrics"),
               .component = "metrics",
               .failure = "the metrics page lacks the consumers",
               .on_defect = options_.on_defect},
              [this](store::LazySession& session, const std::stop_token& /*stop*/) {
                return round(session);
              }) {}

void MetricsPage::add_route(http_server::Server::Routes& routes) {
  routes["/metrics"] = {http_server::Method::Get,
                        [this](const std::shared_ptr<http_server::Exchange>& exchange) {
                          waiting_.with([&](Exchanges& waiting) { waiting.push_back(exchange); });
                          thread_.notify();
                        }};
}

milliseconds MetricsPage::round(store::LazySession& lazy) {
  const auto waiting =
      waiting_.with([](Exchanges& all) { return std::exchange(all, Exchanges()); });
  if (waiting.empty()) return kUntilNotified;
  const std::string page = text(lazy);
  for (const auto& exchange : waiting) {
    exchange->answer(
        http_server::Response{.content_type = "text/plain; version=0.0.4", .body = page});
  }
  return kUntilNotified;
}

std::string MetricsPage::text(store::LazySession& lazy) const {
  std::vector<status::LabelledMetric> metrics;
  for (MetricValue& value : options_.process_metrics()) metrics.push_back({std::move(value)});
  try {
    auto consumers = status::read_consumer_metrics(lazy.get());
    for (status::LabelledMetric& metric : consumers) metrics.push_back(std::move(metric));
  } catch (const store::ServerError& error) {
    lazy.reset();
    logger("metrics")->warn("the metrics page lacks the consumers: {}", error.what());
  }
  return status::prometheus_text(metrics);
}

}  // namespace skua::app
