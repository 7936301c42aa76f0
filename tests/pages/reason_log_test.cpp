#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "pages/health.hpp"

namespace skua::pages::reason_log_test {
namespace {

using Lines = std::vector<std::string>;

class ReasonLogTest : public testing::Test {
 protected:
  void update(std::vector<Reason> reasons) {
    Health health;
    health.reasons = std::move(reasons);
    log_.update(health);
  }

  Lines lines_;
  ReasonLog log_{[this](const std::string& line) { lines_.push_back("warn " + line); },
                 [this](const std::string& line) { lines_.push_back("info " + line); }};
};

TEST_F(ReasonLogTest, has_a_line_when_a_reason_appears_and_one_when_it_ends) {
  update({});
  update({{&problem("source-behind"), "relay:a: the lag is 60 s"}});
  update({{&problem("source-behind"), "relay:a: the lag is 61 s"}});
  update({});
  update({});
  EXPECT_EQ(lines_, (Lines{"warn the tables lag behind a source: relay:a: the lag is 60 s "
                           "[source-behind]",
                           "info ended: the tables lag behind a source"}));
}

TEST_F(ReasonLogTest, has_lines_for_each_consumer) {
  const Reason first{&problem("consumer-stuck"), "post_stats: it is paused", "post_stats"};
  const Reason second{&problem("consumer-stuck"), "search: deliveries fail", "search"};
  update({first});
  update({first, second});
  update({second});
  EXPECT_EQ(lines_, (Lines{"warn a consumer does not advance: post_stats: it is paused "
                           "[consumer-stuck]",
                           "warn a consumer does not advance: search: deliveries fail "
                           "[consumer-stuck]",
                           "info ended: a consumer does not advance: post_stats"}));
}

TEST_F(ReasonLogTest, has_warnings) {
  Health health;
  health.warnings = {{&problem("account-cut-off"), "12 messages, the last 1 s ago"}};
  log_.update(health);
  EXPECT_EQ(lines_.size(), 1U);
  update({});
  EXPECT_EQ(lines_.size(), 2U);
}

TEST_F(ReasonLogTest, does_not_end_what_is_not_known) {
  update({{&problem("consumer-stuck"), "post_stats: it is paused"}});
  log_.update({}, false);
  EXPECT_EQ(lines_.size(), 1U);
  update({{&problem("consumer-stuck"), "post_stats: it is paused"}});
  EXPECT_EQ(lines_.size(), 1U);
  update({});
  EXPECT_EQ(lines_.size(), 2U);
}

TEST_F(ReasonLogTest, leaves_out_what_other_parts_log) {
  update({{&problem("database-down"), "refused"}, {&problem("source-down"), "refused"}});
  update({});
  EXPECT_EQ(lines_, Lines{});
}

}  // namespace
}  // namespace skua::pages::reason_log_test
