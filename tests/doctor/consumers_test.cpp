#include "doctor/consumers.hpp"

#include <chrono>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "findings.hpp"

namespace skua::doctor::consumers_test {
namespace {

using namespace std::chrono_literals;
using test::brief;
using test::briefs;
using testing::ElementsAre;
using testing::HasSubstr;

consumers::Consumer good_consumer() {
  consumers::Consumer consumer;
  consumer.name = "post_stats";
  consumer.kind = "projection";
  consumer.state = "running";
  consumer.lanes.resize(2);
  consumer.lanes[1].lane = 1;
  consumer.behind = 12;
  consumer.lag = 10min - 1ms;
  return consumer;
}

TEST(JudgeConsumers, has_the_judgement_of_each) {
  consumers::Consumer good = good_consumer();
  consumers::Consumer paused = good_consumer();
  paused.paused = true;
  consumers::Consumer stopped = good_consumer();
  stopped.state = "stopped";
  stopped.error = "overflow";
  consumers::Consumer behind = good_consumer();
  behind.lag = 10min;
  const Findings findings = judge_consumers({good, paused, stopped, behind});
  EXPECT_THAT(briefs(findings), ElementsAre("ok", "warning consumer-stuck", "error consumer-stuck",
                                            "warning consumer-behind"));
  EXPECT_EQ(findings[0].check, "consumer post_stats");
  EXPECT_EQ(findings[0].detail, "running, 12 changes behind");
  EXPECT_THAT(findings[1].cure, HasSubstr("consumers resume post_stats"));
  EXPECT_THAT(findings[2].detail, HasSubstr("overflow"));
}

TEST(JudgeConsumers, a_failure_that_may_pass_is_ok_and_shown) {
  consumers::Consumer consumer = good_consumer();
  consumer.lanes[0].failing_since = Timestamp(std::chrono::seconds(1'783'175'888));
  consumer.lanes[0].failing_for = 30s;
  consumer.lanes[0].failures = 4;
  consumer.lanes[0].error = "HTTP 503";
  const Findings findings = judge_consumers({consumer});
  EXPECT_THAT(briefs(findings), ElementsAre("ok"));
  EXPECT_THAT(findings[0].detail,
              HasSubstr("HTTP 503 (4 failures since 2026-07-04T14:38:08Z, 30 s)"));
}

TEST(JudgeConsumersOfNone, is_ok) {
  EXPECT_THAT(briefs(judge_consumers({})), ElementsAre("ok"));
}

TEST(JudgeInbox, messages_that_wait_too_long_are_an_error) {
  EXPECT_EQ(brief(judge_inbox({})), "ok");
  EXPECT_EQ(brief(judge_inbox({.waiting = 3, .oldest = 59s})), "ok");
  const Finding finding = judge_inbox({.waiting = 3, .oldest = 60s});
  EXPECT_EQ(brief(finding), "error messages-waiting");
  EXPECT_THAT(finding.detail, HasSubstr("3 messages"));
}

TEST(JudgeChangeLog, near_the_limit_is_a_warning) {
  EXPECT_EQ(brief(judge_change_log({.bytes = 89, .max_bytes = 100})), "ok");
  EXPECT_EQ(brief(judge_change_log({.bytes = 90, .max_bytes = 100})), "warning change-log-large");
}

}  // namespace
}  // namespace skua::doctor::consumers_test
