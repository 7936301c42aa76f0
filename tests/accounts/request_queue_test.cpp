#include "accounts/request_queue.hpp"

#include <chrono>
#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/co_spawn.hpp>
#include <gtest/gtest.h>

#include "documents/errc.hpp"

namespace skua::accounts::request_queue_test {
namespace {

using namespace std::chrono_literals;
using documents::errc;
using Names = std::vector<std::string>;

/// Requests on the test's thread. A request is active until the test ends it.
class RequestQueueTest : public testing::Test {
 protected:
  void open(RequestQueue::Options options) {
    queue_.emplace(io_.get_executor(), std::move(options));
  }

  /// A request with a name such as "a1", of key "a".
  void enter(const std::string& name, bool first = false) {
    boost::asio::co_spawn(
        io_, [this, name, first] { return queue_->enter(name.substr(0, 1), first); },
        [this, name](const std::exception_ptr& error, Result<RequestQueue::Place> place) {
          if (error) std::rethrow_exception(error);
          if (place) {
            started_.push_back(name);
            places_.emplace_back(name, *std::move(place));
          } else {
            refused_.push_back(place.error());
          }
        });
    poll();
  }

  void end(const std::string& name) {
    std::erase_if(places_, [&](const auto& place) { return place.first == name; });
    poll();
  }

  void poll() {
    io_.restart();
    io_.poll();
  }

  boost::asio::io_context io_{1};
  std::optional<RequestQueue> queue_;
  std::vector<std::pair<std::string, RequestQueue::Place>> places_;
  Names started_;
  std::vector<ErrorCode> refused_;
};

TEST_F(RequestQueueTest, keys_take_turns_and_have_places_of_their_own) {
  open({.at_once = 100, .of_one_key = 2});
  for (const char* name : {"a1", "a2", "a3", "a4", "b1"}) enter(name);
  EXPECT_EQ(started_, (Names{"a1", "a2", "b1"})) << "a silent key delays its own requests only";
  EXPECT_EQ(queue_->waiting(), 2U);
  end("a1");
  EXPECT_EQ(started_.back(), "a3");
  end("b1");
  EXPECT_EQ(started_.size(), 4U);
  end("a2");
  EXPECT_EQ(started_.back(), "a4");
  EXPECT_EQ(queue_->waiting(), 0U);
}

TEST_F(RequestQueueTest, has_a_limit_for_all_keys) {
  open({.at_once = 3, .of_one_key = 2});
  for (const char* name : {"a1", "b1", "c1", "a2", "d1", "a3"}) enter(name);
  EXPECT_EQ(started_, (Names{"a1", "b1", "c1"}));
  end("b1");
  end("c1");
  end("d1");
  EXPECT_EQ(started_, (Names{"a1", "b1", "c1", "a2", "d1"})) << "a has as many as it may have";
  end("a1");
  EXPECT_EQ(started_.back(), "a3");
}

TEST_F(RequestQueueTest, a_repeated_request_is_the_first_of_its_key) {
  open({.at_once = 1});
  for (const char* name : {"a1", "a2", "a3"}) enter(name);
  enter("a0", true);
  for (const char* name : {"a1", "a0", "a2"}) end(name);
  EXPECT_EQ(started_, (Names{"a1", "a0", "a2", "a3"}));
}

TEST_F(RequestQueueTest, waits_while_no_request_may_start) {
  int left = 2;
  open({.may_start = [&] { return left-- > 0; }});
  for (const char* name : {"a1", "a2", "a3"}) enter(name);
  EXPECT_EQ(started_, (Names{"a1", "a2"}));
  left = 1;
  io_.restart();
  while (started_.size() < 3) io_.run_one();
  EXPECT_EQ(started_.back(), "a3") << "though no request has ended";
}

TEST_F(RequestQueueTest, a_request_that_waits_too_long_is_refused_and_not_made) {
  open({.at_once = 1, .patience = 1ms});
  for (const char* name : {"a1", "a2", "b1"}) enter(name);
  io_.restart();
  while (refused_.size() < 2) io_.run_one();
  EXPECT_EQ(refused_, (std::vector<ErrorCode>{errc::busy, errc::busy}));
  EXPECT_EQ(queue_->waiting(), 0U);
  end("a1");
  enter("a3");
  EXPECT_EQ(started_, (Names{"a1", "a3"}));
}

TEST_F(RequestQueueTest, a_stop_refuses_those_that_wait_and_those_that_come) {
  open({.at_once = 1});
  for (const char* name : {"a1", "a2"}) enter(name);
  queue_->stop();
  queue_->stop();
  enter("a3");
  EXPECT_EQ(refused_, (std::vector<ErrorCode>{errc::stopped, errc::stopped}));
  end("a1");
  EXPECT_EQ(started_, Names{"a1"});
}

TEST_F(RequestQueueTest, a_place_may_outlive_its_queue) {
  open({.at_once = 1});
  enter("a1");
  enter("a2");
  queue_.reset();
  end("a1");
  EXPECT_EQ(started_, Names{"a1"});
}

TEST_F(RequestQueueTest, requests_that_end_at_once_do_not_pile_up) {
  open({.at_once = 1, .of_one_key = 1});
  constexpr std::size_t kMany = 100'000;
  std::size_t ended = 0;
  enter("a1");
  for (std::size_t i = 0; i < kMany; ++i) {
    boost::asio::co_spawn(
        io_, [this] { return queue_->enter("a"); },
        [&ended](const std::exception_ptr& /*error*/, Result<RequestQueue::Place> place) {
          if (place) ++ended;
        });
  }
  poll();
  EXPECT_EQ(ended, 0U);
  end("a1");
  EXPECT_EQ(ended, kMany);
}

}  // namespace
}  // namespace skua::accounts::request_queue_test
