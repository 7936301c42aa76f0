#include "pages/pages.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/time.hpp"
#include "pages/dashboard.hpp"
#include "pages/health.hpp"
#include "pages/latest.hpp"
#include "postgres/outage.hpp"
#include "status/message_status.hpp"
#include "status/reports.hpp"
#include "status/standby_status.hpp"

namespace skua::pages {

namespace {

using http_server::Exchange;
using http_server::Method;
using http_server::Response;
using std::chrono::milliseconds;
using SteadyClock = std::chrono::steady_clock;

/// The first time is between two samples of the process without a request, and the second one
/// between two observations.
constexpr std::chrono::seconds kSample{1};
constexpr std::chrono::seconds kObservation{5};
/// A page waits for the database for at most this time.
constexpr milliseconds kDatabaseWait{500};

constexpr const char* kReady = "/health/ready";
constexpr const char* kLive = "/health/live";
constexpr const char* kMetrics = "/metrics";
constexpr const char* kStatus = "/status";
constexpr const char* kProcess = "/status/process";
constexpr const char* kLatest = "/latest";
constexpr const char* kHistory = "/history";

std::optional<Observed::Outage> outage_now() {
  const auto outage = postgres::outage_monitor().current();
  if (!outage) return std::nullopt;
  const auto lasts = system_clock().now() - outage->since;
  return Observed::Outage{
      std::max(std::chrono::duration_cast<std::chrono::seconds>(lasts), std::chrono::seconds(0)),
      outage->reason};
}

}  // namespace

Pages::Pages(postgres::Runtime& runtime, Options options)
    : runtime_(runtime),
      options_(std::move(options)),
      reader_(runtime),
      status_(runtime, {.failure = "the status cannot be read",
                        .read =
                            [url = runtime.database_url](postgres::LazySession& /*session*/) {
                              return status::read_status(url, system_clock());
                            }}),
      latest_(runtime,
              {.failure = "the newest rows cannot be read",
               .read = [](postgres::LazySession& session) { return read_latest(session.get()); }}) {
}

Pages::~Pages() {
  stop();
}

void Pages::add_routes(http_server::Server::Routes& routes) {
  for (const char* path : {kReady, kMetrics, kProcess, kHistory}) {
    routes[path] = {Method::Get, [this](std::shared_ptr<Exchange> exchange) {
                      const std::scoped_lock lock(mutex_);
                      waiting_.push_back(std::move(exchange));
                      wake_.notify_one();
                    }};
  }
  routes[kLive] = {Method::Get, [this](const std::shared_ptr<Exchange>& exchange) {
                     exchange->answer(live_response());
                   }};
  routes[kStatus] = {Method::Get, [this](std::shared_ptr<Exchange> exchange) {
                       status_.answer(std::move(exchange));
                     }};
  routes[kLatest] = {Method::Get, [this](std::shared_ptr<Exchange> exchange) {
                       latest_.answer(std::move(exchange));
                     }};
  add_dashboard(routes, options_.command);
}

void Pages::start() {
  reader_.start();
  status_.start();
  latest_.start();
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

void Pages::stop() {
  if (thread_.joinable()) {
    thread_.request_stop();
    thread_.join();
  }
  reader_.stop();
  status_.stop();
  latest_.stop();
}

void Pages::run(const std::stop_token& stop) {
  try {
    while (!stop.stop_requested()) {
      const auto began = SteadyClock::now();
      heartbeat_.beat(began);
      if (began - history_from_ >= History::kInterval) {
        history_from_ = began;
        history_.add(metrics(), system_clock().now());
      }
      if (process_.is_due(began)) process_.add(metrics(), began);
      Exchanges waiting;
      {
        std::unique_lock lock(mutex_);
        wake_.wait_for(lock, stop, kSample, [&] { return !waiting_.empty(); });
        waiting = std::exchange(waiting_, {});
      }
      if (!waiting.empty()) {
        answer(waiting);
      } else if (const auto now = SteadyClock::now(); now - observed_.now >= kObservation) {
        observe();
      } else {
        sample(options_.process(), now);
      }
    }
  } catch (const std::exception& error) {
    // The loop no longer beats, so /health/live reports the failure.
    return runtime_.fatal(error.what());
  }
  heartbeat_.rest();
}

void Pages::sample(const ProcessState& process, TimePoint now) {
  quiet_.add(process.collections, now);
  if (process.cut_off > cut_off_) cut_off_at_ = now;
  cut_off_ = process.cut_off;
}

void Pages::observe() {
  Observed observed;
  observed.outage = outage_now();
  observed.database = reader_.get(observed.outage ? milliseconds(0) : kDatabaseWait);
  // The read may have shown that the server is down, or that it has returned.
  observed.outage = outage_now();
  observed.now = SteadyClock::now();
  observed.process = options_.process();
  observed.unanswered = reader_.unanswered(observed.now);
  observed.database_problems = postgres::database_problems().current(observed.now);
  sample(observed.process, observed.now);
  observed.quiet_collections = quiet_.quiet();
  observed.cut_off_at = cut_off_at_;
  observed_ = std::move(observed);
  health_ = judge(observed_, options_.limits);
  // Without the state of the database some reasons are unknown, so missing reasons may not have
  // ended.
  log_.update(health_, observed_.database.has_value());
  problems_.with([&](auto& codes) { codes = health_.codes(); });
}

std::vector<status::LabelledMetric> Pages::metrics() const {
  std::vector<status::LabelledMetric> all = options_.metrics();
  for (auto& metric : problem_metrics(health_)) all.push_back(std::move(metric));
  if (observed_.database) {
    const auto& consumers = observed_.database->consumers;
    all.insert(all.end(), consumers.begin(), consumers.end());
    for (const MetricValue& value : status::values_of_inbox(observed_.database->inbox)) {
      all.push_back({value, {}});
    }
    for (const MetricValue& value : status::values_of_standby(observed_.database->standby_lag)) {
      all.push_back({value, {}});
    }
  }
  return all;
}

void Pages::answer(const Exchanges& waiting) {
  const auto path = [](const auto& exchange) { return exchange->request().target.path; };
  if (!std::ranges::all_of(waiting, [&](const auto& each) { return path(each) == kHistory; })) {
    observe();
  }
  std::optional<std::string> text;
  for (const auto& exchange : waiting) {
    if (path(exchange) == kReady) {
      exchange->answer(ready_response(health_));
    } else if (path(exchange) == kHistory) {
      exchange->answer(
          Response{.body = history_.json(http_server::parameters(exchange->request(), "metric"))});
    } else if (path(exchange) == kProcess) {
      exchange->answer(
          Response{.body = process_.json(metrics(), observed_.quiet_collections, observed_.now)});
    } else {
      if (!text) text = status::prometheus_text(metrics());
      exchange->answer(Response{.content_type = "text/plain; version=0.0.4", .body = *text});
    }
  }
}

Response Pages::live_response() const {
  const auto now = SteadyClock::now();
  nlohmann::ordered_json stuck = nlohmann::ordered_json::array();
  const auto check = [&](const Heartbeat& loop) {
    if (loop.is_stuck(now)) stuck.push_back(loop.name());
  };
  check(heartbeat_);
  for (const Heartbeat* loop : options_.loops) check(*loop);
  const bool is_live = stuck.empty();
  const nlohmann::ordered_json body = {{"status", is_live ? "live" : "stuck"}, {"stuck", stuck}};
  return {.status = is_live ? 200U : 503U, .body = body.dump() + "\n"};
}

}  // namespace skua::pages
