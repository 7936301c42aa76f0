#include "xrpc/read_requests.hpp"

#include <atomic>
#include <future>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "base/time.hpp"
#include "postgres/runtime.hpp"
#include "support/postgres.hpp"

namespace skua::xrpc::read_requests_test {
namespace {

using http_server::Exchange;
using http_server::Response;

/// A request of an address, and its answer.
class Asked {
 public:
  Asked(const http_server::Server::Routes& routes, const std::string& path,
        const std::string& address) {
    exchange_ =
        std::make_shared<Exchange>(http_server::Request{.target = {path}, .address = address},
                                   [this] { answered_.set_value(); });
    routes.at(path).handler(exchange_);
  }

  bool is_answered() const {
    return is_answered_.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  }
  Response answer() {
    is_answered_.wait();
    return std::get<Response>(exchange_->take().value());
  }

 private:
  std::promise<void> answered_;
  std::future<void> is_answered_ = answered_.get_future();
  std::shared_ptr<Exchange> exchange_;
};

class ReadRequestsTest : public testing::Test {
 protected:
  using Requests = std::vector<std::unique_ptr<Asked>>;

  void SetUp() override {
    SKUA_NEED_POSTGRES();
    runtime_ = std::make_unique<postgres::Runtime>(test::postgres_url().value(), system_clock());
    requests_ = std::make_unique<ReadRequests>(
        *runtime_, ReadRequests::Options{.session_name = "test requests"}, metrics_);
    requests_->add_route(routes_, "/slow", [this](postgres::Session& session, const auto&) {
      session.run("SELECT 1");
      running_ += 1;
      running_.notify_all();
      ended_.wait();
      return Response{};
    });
    requests_->add_route(routes_, "/quick", [](postgres::Session& session, const auto&) {
      return Response{.body = std::string(session.run("SELECT 7").text(0, 0))};
    });
    requests_->start();
  }

  void ask(Requests& all, const std::string& path, const std::string& address) {
    all.push_back(std::make_unique<Asked>(routes_, path, address));
  }
  void wait_for_running(int number) {
    for (int running = running_; running < number; running = running_) running_.wait(running);
  }

  ReadMetrics metrics_;
  std::atomic<int> running_ = 0;
  std::promise<void> end_;
  std::shared_future<void> ended_ = end_.get_future().share();
  http_server::Server::Routes routes_;
  std::unique_ptr<postgres::Runtime> runtime_;
  std::unique_ptr<ReadRequests> requests_;
};

TEST_F(ReadRequestsTest, two_hundred_slow_requests_of_one_network_delay_no_other_client) {
  Requests slow;
  for (int i = 0; i < 2; ++i) ask(slow, "/slow", "2001:db8::" + std::to_string(i));
  wait_for_running(2);
  for (int i = 2; i < 200; ++i) ask(slow, "/slow", "2001:db8::" + std::to_string(i));
  for (const std::string address : {"2001:db8:0:1::1", "192.0.2.1", "192.0.2.2"}) {
    for (int i = 0; i < 5; ++i) {
      EXPECT_EQ(Asked(routes_, "/quick", address).answer().body, "7") << address;
    }
  }
  EXPECT_EQ(running_, 2);
  int refused = 0;
  for (const auto& one : slow) {
    if (!one->is_answered()) continue;
    const Response response = one->answer();
    EXPECT_EQ(response.status, 429);
    EXPECT_EQ(response.retry_after, std::chrono::seconds(1));
    ++refused;
  }
  // Two run, and 32 wait.
  EXPECT_EQ(refused, 200 - 2 - 32);
  EXPECT_EQ(metrics_.waiting, 32);
  end_.set_value();
  for (int i = 0; i < 2 + 32; ++i) {
    EXPECT_EQ(slow[static_cast<std::size_t>(i)]->answer().status, 200);
  }
  EXPECT_EQ(metrics_.waiting, 0);
  EXPECT_EQ(metrics_.requests.at(static_cast<std::size_t>(RequestEnd::Limited)), refused);
}

}  // namespace
}  // namespace skua::xrpc::read_requests_test
