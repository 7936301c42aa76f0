#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "postgres/server_clock.hpp"
#include "support/postgres.hpp"

namespace skua::postgres::clock_watch_test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// The system's clock, wrong by so much.
class WrongClock final : public Clock {
 public:
  explicit WrongClock(std::chrono::microseconds by) : by_(by.count()) {}
  Timestamp now() const override {
    return system_clock().now() + std::chrono::microseconds(by_.load());
  }
  void set(std::chrono::microseconds by) { by_ = by.count(); }

 private:
  std::atomic<std::int64_t> by_;
};

class ClockWatchTest : public test::PostgresTest {
 protected:
  void SetUp() override { SKUA_NEED_POSTGRES(); }

  ClockWatch::Options options(std::chrono::milliseconds interval = 1h) {
    return {.database_url = database_.url(),
            .interval = interval,
            .warn = [this](const std::string& text) { said(text); },
            .info = [this](const std::string& text) { said(text); }};
  }
  void said(const std::string& text) {
    const std::scoped_lock lock(mutex_);
    said_.push_back(text);
    changed_.notify_all();
  }
  bool wait_for_words(std::size_t count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, 1min, [&] { return said_.size() >= count; });
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> said_;
};

TEST_F(ClockWatchTest, a_clock_that_agrees_is_not_spoken_of) {
  const ClockWatch watch(options(), system_clock());
  EXPECT_THAT(said_, IsEmpty());
  ASSERT_TRUE(watch.server_ahead());
  EXPECT_LT(std::chrono::abs(*watch.server_ahead()), 1s);
}

TEST_F(ClockWatchTest, one_that_is_behind_is_told_at_once_and_does_not_count) {
  const WrongClock clock(-10min);
  const ClockWatch watch(options(), clock);
  EXPECT_THAT(said_, ElementsAre(HasSubstr("is 10 min behind PostgreSQL's")));
  EXPECT_LT(std::chrono::abs(watch.latest().now() - system_clock().now()), 1s);
  EXPECT_LT(std::chrono::abs(watch.server().now() - system_clock().now()), 1s);
  EXPECT_LT(std::chrono::abs(*watch.server_ahead() - 10min), 1s);
}

TEST_F(ClockWatchTest, one_that_is_ahead_counts_but_for_what_processes_share) {
  const WrongClock clock(1h);
  const ClockWatch watch(options(), clock);
  EXPECT_THAT(said_, ElementsAre(HasSubstr("is 60 min ahead of PostgreSQL's")));
  EXPECT_LT(std::chrono::abs(watch.latest().now() - clock.now()), 1s);
  EXPECT_LT(std::chrono::abs(watch.server().now() - system_clock().now()), 1s);
}

TEST_F(ClockWatchTest, a_jump_moves_nothing_that_is_shared_and_is_told) {
  WrongClock clock(0s);
  const ClockWatch watch(options(10ms), clock);
  clock.set(-2h);
  EXPECT_LT(std::chrono::abs(watch.server().now() - system_clock().now()), 1s);
  ASSERT_TRUE(wait_for_words(1));
  clock.set(0s);
  ASSERT_TRUE(wait_for_words(2));
  EXPECT_THAT(said_, ElementsAre(HasSubstr("2 h 0 min behind"), HasSubstr("agree again")));
}

TEST(ClockDifferenceText, says_what_is_worth_it) {
  EXPECT_EQ(clock_difference_text(4s), std::nullopt);
  EXPECT_EQ(clock_difference_text(-4s), std::nullopt);
  EXPECT_EQ(clock_difference_text(5s), "5 s behind");
  EXPECT_EQ(clock_difference_text(-3h), "3 h 0 min ahead of");
}

}  // namespace
}  // namespace skua::postgres::clock_watch_test
