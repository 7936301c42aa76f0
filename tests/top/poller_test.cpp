#include "top/poller.hpp"

#include <semaphore>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "http_server/server.hpp"

namespace skua::top::poller_test {
namespace {

using http_server::Exchange;
using http_server::Method;
using http_server::Response;
using namespace std::chrono_literals;

/// A server with some of the pages, and a poller of it.
class PollerTest : public testing::Test {
 protected:
  void TearDown() override { server_.stop(); }

  Answer read(Page page) {
    poller_.ask(page);
    EXPECT_TRUE(answered_.try_acquire_for(30s));
    const auto answers = poller_.take();
    EXPECT_EQ(answers.size(), 1U);
    return answers.empty() ? Answer() : answers[0];
  }

  static http_server::Server::Routes routes() {
    http_server::Server::Routes routes;
    routes["/status/process"] = {Method::Get, [](const std::shared_ptr<Exchange>& exchange) {
                                   exchange->answer(Response{.body = "{\"workers\":[]}\n"});
                                 }};
    routes["/health/ready"] = {Method::Get, [](const std::shared_ptr<Exchange>& exchange) {
                                 exchange->answer(Response{.status = 503, .body = "{}"});
                               }};
    routes["/status"] = {Method::Get, [](const std::shared_ptr<Exchange>& exchange) {
                           exchange->answer(Response{.body = std::string(5UL << 20U, ' ')});
                         }};
    // It answers never.
    routes["/latest"] = {Method::Get, [](std::shared_ptr<Exchange> exchange) {
                           static std::shared_ptr<Exchange> kept;
                           kept = std::move(exchange);
                         }};
    return routes;
  }

  http_server::Server server_{{}, routes()};
  std::counting_semaphore<> answered_{0};
  Poller poller_{{.origin = fmt::format("http://127.0.0.1:{}", server_.port()),
                  .timeout = 300ms,
                  .on_answer = [this] { answered_.release(); }}};
};

TEST_F(PollerTest, gets_answers_of_any_status) {
  server_.start();
  const Answer process = read(Page::Process);
  EXPECT_EQ(process.status, 200U);
  EXPECT_EQ(process.body, "{\"workers\":[]}\n");
  EXPECT_EQ(process.failure, "");
  const Answer health = read(Page::Health);
  EXPECT_EQ(health.page, Page::Health);
  EXPECT_EQ(health.status, 503U);
  EXPECT_EQ(read(Page::Process).status, 200U);
}

TEST_F(PollerTest, bounds_the_size_and_the_time) {
  server_.start();
  const Answer large = read(Page::Status);
  EXPECT_EQ(large.status, 0U);
  EXPECT_EQ(large.body, "");
  EXPECT_NE(large.failure, "");
  const Answer late = read(Page::Latest);
  EXPECT_EQ(late.status, 0U);
  EXPECT_NE(late.failure, large.failure);
}

TEST_F(PollerTest, asks_for_a_page_once_at_a_time) {
  server_.start();
  for (int i = 0; i < 100; ++i) poller_.ask(Page::Latest);
  EXPECT_TRUE(answered_.try_acquire_for(30s));
  EXPECT_FALSE(answered_.try_acquire());
  EXPECT_EQ(poller_.take().size(), 1U);
}

TEST(Poller, of_a_server_that_is_gone_fails) {
  std::counting_semaphore<> answered{0};
  // Port 1 is reserved, and nobody listens.
  Poller poller({.origin = "http://127.0.0.1:1", .on_answer = [&] { answered.release(); }});
  poller.ask(Page::Process);
  ASSERT_TRUE(answered.try_acquire_for(30s));
  const auto answers = poller.take();
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_EQ(answers[0].failure, "connection refused: nothing listens at the port");
}

TEST_F(PollerTest, may_end_with_requests_under_way) {
  server_.start();
  poller_.ask(Page::Latest);
}

}  // namespace
}  // namespace skua::top::poller_test
