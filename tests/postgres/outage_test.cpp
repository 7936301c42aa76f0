#include "postgres/outage.hpp"

#include <chrono>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "postgres/database_watch.hpp"
#include "postgres/session.hpp"
#include "support/manual_clock.hpp"

namespace skua::postgres::outage_test {
namespace {

using namespace std::chrono_literals;
using Lines = std::vector<std::string>;

class OutageMonitorTest : public testing::Test {
 protected:
  void fail(const std::string& reason = "refused") {
    monitor_.attempt_failed(clock_.now(), reason);
  }
  /// What many sessions do that try again and again.
  void fail_for(std::chrono::seconds time) {
    for (auto passed = 0s; passed < time; passed += 1s) {
      for (int session = 0; session < 40; ++session) {
        fail();
        monitor_.retrying();
      }
      clock_.advance(1s);
    }
  }

  test::ManualClock clock_;
  Lines lines_;
  OutageMonitor monitor_{
      clock_,
      {.warn = [this](const std::string& line) { lines_.push_back("warn " + line); },
       .info = [this](const std::string& line) { lines_.push_back("info " + line); }}};
};

TEST_F(OutageMonitorTest, logs_two_lines_of_half_a_minute) {
  monitor_.connected();
  fail_for(30s);
  monitor_.connected();
  monitor_.connected();
  EXPECT_EQ(lines_, (Lines{"warn the database is down, retrying: refused [database-down]",
                           "info the database is back after 30 s"}));
}

TEST_F(OutageMonitorTest, logs_a_line_a_minute_while_it_lasts) {
  monitor_.connected();
  fail_for(185s);
  EXPECT_EQ(
      lines_,
      (Lines{"warn the database is down, retrying: refused [database-down]",
             "warn the database has been down for 60 s, retrying: refused [database-down]",
             "warn the database has been down for 2 min, retrying: refused [database-down]",
             "warn the database has been down for 3 min, retrying: refused [database-down]"}));
}

TEST_F(OutageMonitorTest, asks_about_the_address_when_it_was_never_reached) {
  fail_for(1s);
  EXPECT_EQ(lines_, (Lines{"warn the database is down, retrying: refused (is it up, and is the "
                           "address right?) [database-down]"}));
}

TEST_F(OutageMonitorTest, begins_when_the_first_attempt_began) {
  EXPECT_FALSE(monitor_.current());
  const Timestamp began = clock_.now();
  clock_.advance(10s);
  monitor_.attempt_failed(began, "timeout");
  fail("refused");
  ASSERT_TRUE(monitor_.current());
  EXPECT_EQ(monitor_.current()->since, began);
  EXPECT_EQ(monitor_.current()->reason, "refused");
  monitor_.connected();
  EXPECT_FALSE(monitor_.current());
}

TEST_F(OutageMonitorTest, logs_nothing_when_nobody_retries) {
  fail();
  monitor_.connected();
  EXPECT_EQ(lines_, Lines{});
}

TEST_F(OutageMonitorTest, logs_nothing_of_a_session_that_broke_while_others_can_be_made) {
  monitor_.connected();
  monitor_.retrying();
  EXPECT_EQ(lines_, Lines{});
  EXPECT_FALSE(monitor_.current());
}

TEST_F(OutageMonitorTest, logs_a_line_when_the_problem_changes) {
  monitor_.connected();
  fail_for(2s);
  for (int i = 0; i < 5; ++i) {
    fail(std::string(kWaitsForPromotion));
    monitor_.retrying();
  }
  EXPECT_EQ(lines_, (Lines{"warn the database is down, retrying: refused [database-down]",
                           "warn the database has been down for 2 s, retrying: " +
                               std::string(kWaitsForPromotion) + " [database-read-only]"}));
}

TEST_F(OutageMonitorTest, logs_each_of_two_outages) {
  monitor_.connected();
  for (int i = 0; i < 2; ++i) {
    fail_for(2s);
    monitor_.connected();
  }
  EXPECT_EQ(lines_.size(), 4U);
}

TEST(SqlErrors, tell_whether_the_server_could_be_reached) {
  const auto is_unreachable = [](const std::string& message, const std::string& sqlstate) {
    return ServerError(message, sqlstate).is_unreachable();
  };
  EXPECT_TRUE(is_unreachable("could not connect to server: Connection refused", ""));
  EXPECT_TRUE(is_unreachable("FATAL:  the database system is starting up", ""));
  EXPECT_TRUE(is_unreachable("terminating connection due to administrator command", "57P01"));
  EXPECT_TRUE(is_unreachable("server closed the connection", "08006"));
  EXPECT_FALSE(is_unreachable("FATAL:  sorry, too many clients already", ""));
  EXPECT_FALSE(is_unreachable("remaining connection slots are reserved", ""));
  EXPECT_FALSE(is_unreachable("too many connections", "53300"));
  EXPECT_FALSE(is_unreachable("No space left on device", "53100"));
  EXPECT_FALSE(is_unreachable("deadlock detected", "40P01"));
}

TEST(Sessions, report_to_the_monitor_that_the_server_cannot_be_reached) {
  EXPECT_THROW(Session("postgresql://127.0.0.1:1/nowhere", "test"), ServerError);
  const auto outage = outage_monitor().current();
  ASSERT_TRUE(outage);
  EXPECT_NE(outage->reason, "");
  outage_monitor().connected();
}

}  // namespace
}  // namespace skua::postgres::outage_test
