#include "pages/pages.hpp"

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace skua::pages::pages_test {
namespace {

using namespace std::chrono_literals;
using http_server::Exchange;
using http_server::Response;
using nlohmann::json;
using testing::HasSubstr;

/// Nothing listens there.
constexpr const char* kNoServer = "postgresql://nobody@127.0.0.1:1/none?connect_timeout=1";

/// A request whose answer is waited for.
class Request {
 public:
  explicit Request(std::string path)
      : Request(http_server::Request{.target = {.path = std::move(path)}}) {}
  explicit Request(http_server::Request request) {
    exchange_ = std::make_shared<Exchange>(std::move(request), [this] { answered_.set_value(); });
  }
  const std::shared_ptr<Exchange>& exchange() const { return exchange_; }
  Response response() {
    if (answered_.get_future().wait_for(20s) != std::future_status::ready) {
      ADD_FAILURE() << "no answer";
      return {};
    }
    return std::get<Response>(exchange_->take().value());
  }

 private:
  std::promise<void> answered_;
  std::shared_ptr<Exchange> exchange_;
};

class PagesTest : public testing::Test {
 protected:
  void open() {
    pages_.emplace(runtime_, Pages::Options{.command = "serve",
                                            .process =
                                                [this] {
                                                  ++observations_;
                                                  gate_.wait();
                                                  ProcessState state;
                                                  state.phase = ProcessState::Phase::Running;
                                                  return state;
                                                },
                                            .metrics =
                                                [] {
                                                  return std::vector<status::LabelledMetric>{
                                                      {{{"", "skua_made", "", "Made"},
                                                        MetricKind::Gauge,
                                                        std::uint64_t{7}}}};
                                                },
                                            .loops = {&main_loop_}});
    pages_->add_routes(routes_);
    pages_->start();
  }
  void ask(const Request& request) {
    routes_.at(request.exchange()->request().target.path).handler(request.exchange());
  }
  Response get(const std::string& path) {
    Request request(path);
    ask(request);
    return request.response();
  }

  std::promise<void> open_gate_;
  std::shared_future<void> gate_ = open_gate_.get_future();
  std::atomic<int> observations_{0};
  Heartbeat main_loop_{"main"};
  http_server::Server::Routes routes_;
  postgres::Runtime runtime_{kNoServer, system_clock()};
  std::optional<Pages> pages_;
};

TEST_F(PagesTest, answer_without_the_database_with_the_reason) {
  open_gate_.set_value();
  open();
  // The first question finds out that the server is down.
  Response response = get("/health/ready");
  EXPECT_EQ(response.status, 503U);
  const json body = json::parse(response.body);
  ASSERT_EQ(body["reasons"].size(), 1U) << body;
  EXPECT_EQ(body["reasons"][0]["code"], "database-down");
  EXPECT_THAT(pages_->problems(), testing::ElementsAre("database-down"));
  response = get("/metrics");
  EXPECT_EQ(response.status, 200U);
  EXPECT_THAT(response.body, HasSubstr("skua_made 7\n"));
  EXPECT_THAT(response.body, HasSubstr("skua_problem{code=\"database-down\"} 1\n"));
  EXPECT_THAT(response.body, HasSubstr("skua_problem{code=\"disk-full\"} 0\n"));
  response = get("/status/process");
  EXPECT_EQ(response.status, 200U);
  EXPECT_EQ(json::parse(response.body)["sources"], json::array());
  response = get("/status");
  EXPECT_EQ(response.status, 503U);
  EXPECT_EQ(json::parse(response.body)["error"], "database-down");
}

TEST(DatabasePage, has_an_answer_that_counts_longer_if_the_read_is_slow) {
  EXPECT_EQ(lifetime_of_answer(0ms), 1s);
  EXPECT_EQ(lifetime_of_answer(100ms), 2s);
  EXPECT_EQ(lifetime_of_answer(10s), 60s);
}

TEST_F(PagesTest, answer_requests_that_wait_together) {
  open();
  std::vector<std::unique_ptr<Request>> requests;
  for (int i = 0; i < 100; ++i) {
    requests.push_back(std::make_unique<Request>(i % 2 == 0 ? "/health/ready" : "/metrics"));
    ask(*requests.back());
  }
  open_gate_.set_value();
  for (const auto& request : requests) EXPECT_NE(request->response().body, "");
  // The first may have been observed alone.
  EXPECT_LE(observations_, 3);
}

TEST_F(PagesTest, health_live_answers_while_the_observation_waits) {
  open();
  Request blocked("/health/ready");
  ask(blocked);
  EXPECT_EQ(get("/health/live").status, 200U);
  open_gate_.set_value();
  blocked.response();
}

TEST_F(PagesTest, health_live_names_a_loop_that_is_stuck) {
  open_gate_.set_value();
  open();
  main_loop_.beat(std::chrono::steady_clock::now());
  EXPECT_EQ(get("/health/live").body, R"({"status":"live","stuck":[]})"
                                      "\n");
  main_loop_.beat(std::chrono::steady_clock::now() - Heartbeat::kStuck);
  const Response response = get("/health/live");
  EXPECT_EQ(response.status, 503U);
  EXPECT_EQ(response.body, R"({"status":"stuck","stuck":["main"]})"
                           "\n");
}

TEST_F(PagesTest, history_has_the_metrics_since_the_start) {
  open_gate_.set_value();
  open();
  json history = json::parse(get("/history").body);
  ASSERT_EQ(history["times"].size(), 1U);
  EXPECT_EQ(history["metrics"]["skua_made"]["value"], json::parse("[7.0]"));
  // Those of the pages themselves, too.
  EXPECT_TRUE(history["metrics"].contains("skua_problem"));
  http_server::Request one;
  one.target = {.path = "/history", .query = {{"metric", "skua_made"}}};
  Request request(std::move(one));
  ask(request);
  history = json::parse(request.response().body);
  EXPECT_EQ(history["metrics"].size(), 1U);
}

TEST_F(PagesTest, the_dashboard_knows_its_command_and_keeps_its_icons) {
  open_gate_.set_value();
  open();
  EXPECT_THAT(get("/").body, HasSubstr("<body data-command=\"serve\">"));
  EXPECT_THAT(get("/").body, testing::Not(HasSubstr("@command@")));
  // The icon of a problem is shown when the process has ended.
  const Response icon = get("/icon-problem.svg");
  EXPECT_EQ(icon.content_type, "image/svg+xml");
  EXPECT_GT(icon.max_age, 1min);
  EXPECT_EQ(get("/dashboard.js").max_age, 0s);
}

TEST_F(PagesTest, the_dashboard_links_every_page) {
  open_gate_.set_value();
  open();
  const Response response = get("/");
  EXPECT_EQ(response.content_type, "text/html; charset=utf-8");
  for (const auto& [path, route] : routes_) {
    // Its style and scripts have a suffix.
    if (path == "/" || path.find('.') != path.npos) continue;
    EXPECT_THAT(response.body, HasSubstr("href=\"" + path + "\""));
    EXPECT_EQ(route.method, http_server::Method::Get);
  }
}

}  // namespace
}  // namespace skua::pages::pages_test
