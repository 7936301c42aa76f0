#include "doctor/consumers.hpp"

#include <chrono>
#include <functional>
#include <string>

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

feed::Consumer good_consumer() {
  feed::Consumer consumer;
  consumer.name = "post_stats";
  consumer.state = "running";
  consumer.lanes.resize(2);
  consumer.lanes[1].lane = 1;
  consumer.behind = 12;
  consumer.lag = 10min - 1ms;
  return consumer;
}

struct ConsumerCase {
  const char* name;
  std::function<void(feed::Consumer&)> change;
  const char* expected;
  const char* text;
};

class JudgeConsumers : public testing::TestWithParam<ConsumerCase> {};

TEST_P(JudgeConsumers, gives_the_most_serious_state) {
  feed::Consumer consumer = good_consumer();
  GetParam().change(consumer);
  const Findings findings = judge_consumers({consumer});
  EXPECT_THAT(briefs(findings), ElementsAre(GetParam().expected));
  EXPECT_EQ(findings[0].check, "consumer post_stats");
  EXPECT_THAT(findings[0].detail, HasSubstr(GetParam().text));
}

INSTANTIATE_TEST_SUITE_P(
    All, JudgeConsumers,
    testing::Values(
        ConsumerCase{"good", [](auto&) {}, "ok", "running, 12 changes behind"},
        ConsumerCase{"filling", [](auto& each) { each.state = "filling"; }, "ok", "building"},
        ConsumerCase{"failed_build",
                     [](auto& each) {
                       each.state = "filling";
                       each.error = "no space left";
                     },
                     "warning consumer-stuck", "not built: no space left"},
        ConsumerCase{"paused", [](auto& each) { each.paused = true; }, "warning consumer-stuck",
                     "paused"},
        ConsumerCase{"stopped",
                     [](auto& each) {
                       each.state = "stopped";
                       each.error = "overflow";
                       each.paused = true;
                     },
                     "error consumer-stuck", "stopped after a failure: overflow"},
        ConsumerCase{"lagged_out", [](auto& each) { each.state = "lagged out"; },
                     "error consumer-stuck", "dropped changes"},
        ConsumerCase{"blocked", [](auto& each) { each.lanes[1].is_blocked = true; },
                     "warning consumer-stuck", "lane 1 is blocked"},
        ConsumerCase{"lags", [](auto& each) { each.lag = 10min; }, "warning consumer-stuck",
                     "12 changes behind, 10 min"},
        ConsumerCase{"fails",
                     [](auto& each) {
                       each.lag = 1h;
                       each.lanes[0].attempts = 3;
                       each.lanes[0].error = "HTTP 500";
                     },
                     "warning consumer-stuck", "HTTP 500"},
        ConsumerCase{"retries", [](auto& each) { each.lanes[0].attempts = 3; }, "ok", "running"},
        ConsumerCase{"waits", [](auto& each) { each.lanes[0].waiting_accounts = 2; },
                     "warning consumer-stuck", "2 accounts wait for dead letters"}),
    [](const auto& each) { return each.param.name; });

TEST(JudgeConsumersThatLaggedOut, have_the_cure_of_their_kind) {
  feed::Consumer consumer = good_consumer();
  consumer.state = "lagged out";
  consumer.kind = "projection";
  EXPECT_THAT(judge_consumers({consumer})[0].cure, HasSubstr("consumers rebuild post_stats"));
  consumer.kind = "webhook";
  EXPECT_THAT(judge_consumers({consumer})[0].cure, HasSubstr("reset post_stats --from oldest"));
}

TEST(JudgeConsumersOfNone, is_ok) {
  EXPECT_THAT(briefs(judge_consumers({})), ElementsAre("ok"));
}

TEST(JudgeChangeLog, near_the_limit_is_a_warning) {
  EXPECT_EQ(brief(judge_change_log({.bytes = 89, .max_bytes = 100})), "ok");
  EXPECT_EQ(brief(judge_change_log({.bytes = 90, .max_bytes = 100})), "warning change-log-large");
}

}  // namespace
}  // namespace skua::doctor::consumers_test
