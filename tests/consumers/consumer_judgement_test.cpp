#include "consumers/consumer_judgement.hpp"

#include <chrono>
#include <functional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace skua::consumers::consumer_judgement_test {
namespace {

using namespace std::chrono_literals;
using Level = ConsumerJudgement::Level;
using testing::HasSubstr;
using testing::Not;

/// A webhook of two lanes that works.
Consumer webhook() {
  Consumer consumer;
  consumer.name = "search";
  consumer.kind = "webhook";
  consumer.role = "live";
  consumer.state = "running";
  consumer.policy = "pause";
  consumer.url = "https://search.example/skua";
  consumer.lanes.resize(2);
  consumer.lanes[0].pos = 4711;
  consumer.lanes[1].pos = 4700;
  consumer.lanes[1].lane = 1;
  consumer.behind = 12;
  consumer.lag = 1s;
  return consumer;
}

Consumer of_kind(const char* kind) {
  Consumer consumer = webhook();
  consumer.kind = kind;
  if (consumer.kind == "projection") consumer.name = "post_stats";
  return consumer;
}

/// The lane 1 has failed for that long.
void fail(Consumer& consumer, std::chrono::milliseconds lasts, FailureCause cause,
          const char* error = "HTTP 401: no") {
  ConsumerLane& lane = consumer.lanes[1];
  lane.failing_since = Timestamp(std::chrono::seconds(1'783'175'888));
  lane.failing_for = lasts;
  lane.failures = 30;
  lane.cause = cause;
  lane.error = error;
}

struct Expected {
  Level level;
  const char* state;
  const char* code;
};

struct JudgementCase {
  const char* name;
  const char* kind;
  std::function<void(Consumer&)> change;
  Expected expected;
  const char* reason;
  const char* cure;
};

class JudgeConsumer : public testing::TestWithParam<JudgementCase> {};

TEST_P(JudgeConsumer, finds_the_most_serious_state_with_its_reason_and_cure) {
  const JudgementCase& given = GetParam();
  Consumer consumer = of_kind(given.kind);
  given.change(consumer);
  const ConsumerJudgement judgement = judge_consumer(consumer);
  EXPECT_EQ(judgement.level, given.expected.level);
  EXPECT_EQ(judgement.state, given.expected.state);
  EXPECT_EQ(judgement.problem == nullptr ? "" : judgement.problem->code, given.expected.code);
  EXPECT_THAT(judgement.reason, HasSubstr(given.reason));
  EXPECT_THAT(judgement.cure, HasSubstr(given.cure));
}

constexpr Expected kRuns{Level::Works, "running", ""};

INSTANTIATE_TEST_SUITE_P(
    All, JudgeConsumer,
    testing::Values(
        JudgementCase{"works", "webhook", [](auto&) {}, kRuns, "", ""},
        JudgementCase{"paused",
                      "webhook",
                      [](auto& each) { each.paused = true; },
                      {Level::Stuck, "paused", "consumer-stuck"},
                      "it is paused",
                      "skua consumers resume search"},
        JudgementCase{"stopped",
                      "webhook",
                      [](auto& each) {
                        each.state = "stopped";
                        each.error = "the change at position 7 failed: HTTP 500";
                        each.paused = true;
                      },
                      {Level::Stopped, "stopped", "consumer-stuck"},
                      "position 7 failed: HTTP 500",
                      "run `skua consumers reset search`"},
        JudgementCase{"stopped_at_a_change",
                      "pull",
                      [](auto& each) {
                        each.state = "stopped";
                        each.lanes[1].is_blocked = true;
                        each.lanes[1].attempts = 10;
                      },
                      {Level::Stopped, "stopped", "consumer-stuck"},
                      "stopped after a failure",
                      "`skua consumers reset search --skip 4700`"},
        JudgementCase{"stopped_projection",
                      "projection",
                      [](auto& each) { each.state = "stopped"; },
                      {Level::Stopped, "stopped", "consumer-stuck"},
                      "stopped after a failure",
                      "skua consumers rebuild post_stats"},
        JudgementCase{"stopped_and_unknown",
                      "projection",
                      [](auto& each) {
                        each.state = "stopped";
                        each.name = "of_a_later_version";
                      },
                      {Level::Stopped, "stopped", "consumer-stuck"},
                      "stopped",
                      "skua consumers remove of_a_later_version"},
        JudgementCase{"stopped_and_rebuilt",
                      "projection",
                      [](auto& each) {
                        each.state = "stopped";
                        each.has_successor = true;
                      },
                      {Level::Stuck, "stopped", "consumer-stuck"},
                      "built again",
                      "Wait"},
        JudgementCase{"lagged_out",
                      "webhook",
                      [](auto& each) { each.state = "lagged out"; },
                      {Level::Stopped, "lagged out", "consumer-stuck"},
                      "dropped changes",
                      "reset search --from oldest"},
        JudgementCase{"lagged_out_projection",
                      "projection",
                      [](auto& each) { each.state = "lagged out"; },
                      {Level::Stopped, "lagged out", "consumer-stuck"},
                      "dropped changes",
                      "rebuild post_stats"},
        JudgementCase{"building",
                      "projection",
                      [](auto& each) { each.state = "filling"; },
                      {Level::Works, "building", ""},
                      "",
                      ""},
        JudgementCase{"catching_up",
                      "projection",
                      [](auto& each) { each.role = "next"; },
                      {Level::Works, "catching up", ""},
                      "",
                      ""},
        JudgementCase{"failed_build",
                      "projection",
                      [](auto& each) {
                        each.state = "filling";
                        each.error = "no space left";
                      },
                      {Level::Stuck, "building", "consumer-stuck"},
                      "not built: no space left",
                      "tries again by itself"},
        JudgementCase{"blocked",
                      "webhook",
                      [](auto& each) {
                        each.lanes[1].is_blocked = true;
                        each.lanes[1].attempts = 1;
                        each.lanes[1].error = "HTTP 500";
                      },
                      {Level::Stuck, "blocked", "consumer-stuck"},
                      "blocks lane 1: HTTP 500",
                      "reset search --skip 4700"},
        JudgementCase{"blocked_by_work_of_a_queue",
                      "projection",
                      [](auto& each) { each.lanes[0].is_blocked = true; },
                      {Level::Stuck, "blocked", "consumer-stuck"},
                      "blocks lane 0",
                      "it tries again. `skua consumers rebuild post_stats`"},
        JudgementCase{"keeps_tables",
                      "projection",
                      [](auto& each) {
                        each.role = "retired";
                        each.error = "its former tables are not dropped: views read them";
                        each.dependents = "drop view public.mine";
                      },
                      {Level::Notice, "not dropped", "former-tables"},
                      "its former tables are not dropped",
                      "Run `drop view public.mine`, or let them read bsky.post_stats."},
        JudgementCase{"bootstrap",
                      "webhook",
                      [](auto& each) { each.waits_for_bootstrap = true; },
                      {Level::Notice, "waiting", "bootstrap-open"},
                      "bootstrap",
                      ""},
        JudgementCase{"unserved",
                      "webhook",
                      [](auto& each) { each.is_served = false; },
                      {Level::Notice, "not served", "consumer-stuck"},
                      "no process delivers changes; 12 changes wait, the oldest for 1 s",
                      "Start `skua serve`"},
        JudgementCase{"unserved_for_long",
                      "pull",
                      [](auto& each) {
                        each.is_served = false;
                        each.lag = 2min;
                      },
                      {Level::Stuck, "not served", "consumer-stuck"},
                      "no process answers its program; 12 changes wait, the oldest for 2 min",
                      "Start `skua serve`"},
        JudgementCase{"unserved_projection",
                      "projection",
                      [](auto& each) {
                        each.is_served = false;
                        each.state = "filling";
                        each.age = 2min;
                        each.behind.reset();
                        each.lag.reset();
                      },
                      {Level::Stuck, "not served", "consumer-stuck"},
                      "no process keeps projections up to date",
                      "Start `skua consumers run`, or `skua run` with `--consumer-threads`"},
        JudgementCase{
            "fails",
            "webhook",
            [](auto& each) { fail(each, 29min, FailureCause::Refused); },
            {Level::Stuck, "failing", "consumer-stuck"},
            "deliveries fail: HTTP 401: no (30 failures since 2026-07-04T14:38:08Z, 29 min)",
            "secret"},
        JudgementCase{"fails_just_now", "webhook",
                      [](auto& each) { fail(each, 2min - 1ms, FailureCause::Unreachable); }, kRuns,
                      "deliveries fail: HTTP 401", "Start the receiver"},
        JudgementCase{"failing_projection",
                      "projection",
                      [](auto& each) { fail(each, 2min, FailureCause::Change, "overflow"); },
                      {Level::Stuck, "failing", "consumer-stuck"},
                      "changes cannot be applied: overflow (30",
                      "stops the consumer (policy pause)"},
        JudgementCase{"projection_with_broken_tables",
                      "projection",
                      [](auto& each) { fail(each, 1s, FailureCause::Tables, "no column"); },
                      {Level::Stuck, "failing", "consumer-stuck"},
                      "changes cannot be applied: no column",
                      "`skua consumers rebuild post_stats`"},
        JudgementCase{"projection_that_waits_for_a_lock",
                      "projection",
                      [](auto& each) { fail(each, 2min, FailureCause::Lock, "timeout"); },
                      {Level::Stuck, "failing", "consumer-stuck"},
                      "changes cannot be applied: timeout",
                      "pg_stat_activity"},
        JudgementCase{"webhook_without_a_right",
                      "webhook",
                      [](auto& each) { fail(each, 1s, FailureCause::Tables, "denied"); },
                      {Level::Stuck, "failing", "consumer-stuck"},
                      "its changes cannot be read: denied",
                      "a missing right of the role of `skua serve`"},
        JudgementCase{"malformed_filter",
                      "pull",
                      [](auto& each) { fail(each, 1s, FailureCause::Filter, "no list"); },
                      {Level::Stuck, "failing", "consumer-stuck"},
                      "its changes cannot be read: no list",
                      "skua consumers set search --collection"},
        JudgementCase{"failing_program",
                      "pull",
                      [](auto& each) { fail(each, 2min, FailureCause::Change, "refused"); },
                      {Level::Stuck, "failing", "consumer-stuck"},
                      "its program reports failures",
                      "the program that fetches"},
        JudgementCase{"program_that_ends",
                      "pull",
                      [](auto& each) {
                        fail(each, 2min, FailureCause::Expiry, "the lease ended without an answer");
                      },
                      {Level::Stuck, "failing", "consumer-stuck"},
                      "changes are not acknowledged: the lease ended without an answer (30",
                      "it ended before it acknowledged them"},
        JudgementCase{"not_fetched",
                      "pull",
                      [](auto& each) { each.lag = 10min; },
                      {Level::Notice, "not fetched", "consumer-behind"},
                      "no program fetches its changes; 12 changes wait",
                      "Start the program"},
        JudgementCase{"abandoned",
                      "pull",
                      [](auto& each) {
                        each.lag = 2min;
                        each.lanes[0].is_abandoned = true;
                      },
                      {Level::Notice, "not fetched", "consumer-behind"},
                      "has not acknowledged",
                      "Start the program"},
        JudgementCase{"fetched", "pull",
                      [](auto& each) {
                        each.lag = 9min;
                        each.lanes[0].is_abandoned = true;
                        each.lanes[1].is_leased = true;
                      },
                      kRuns, "", ""},
        JudgementCase{"lags",
                      "webhook",
                      [](auto& each) { each.lag = 10min; },
                      {Level::Notice, "running", "consumer-behind"},
                      "12 changes behind, 10 min",
                      ""},
        JudgementCase{"lags_a_little", "webhook", [](auto& each) { each.lag = 10min - 1ms; }, kRuns,
                      "", ""},
        JudgementCase{"waits_for_letters",
                      "webhook",
                      [](auto& each) { each.lanes[0].waiting_accounts = 2; },
                      {Level::Notice, "running", "dead-letters"},
                      "2 accounts wait for dead letters",
                      "skua dead-letters list"}),
    [](const auto& each) { return each.param.name; });

TEST(CureOfAFailure, follows_from_what_failed) {
  const auto cure = [](FailureCause cause) {
    Consumer consumer = webhook();
    fail(consumer, 1h, cause);
    return judge_consumer(consumer).cure;
  };
  EXPECT_THAT(cure(FailureCause::Unreachable), HasSubstr("Start the receiver of https://search"));
  EXPECT_THAT(cure(FailureCause::Name), HasSubstr("/etc/resolv.conf"));
  EXPECT_THAT(cure(FailureCause::Tls), HasSubstr("--ca-file"));
  EXPECT_THAT(cure(FailureCause::Slow), HasSubstr("--webhook-timeout"));
  EXPECT_THAT(cure(FailureCause::Refused), HasSubstr("secret"));
  EXPECT_THAT(cure(FailureCause::Address), HasSubstr("does not accept POST"));
  EXPECT_THAT(cure(FailureCause::Busy), HasSubstr("proxy"));
  EXPECT_THAT(cure(FailureCause::Change), HasSubstr("refuses changes"));
  EXPECT_THAT(cure(FailureCause::Expiry), HasSubstr("log of `skua serve`"));
  for (int i = 0; i < 9; ++i) {
    EXPECT_THAT(cure(static_cast<FailureCause>(i)), HasSubstr("reset search --from live"));
  }
}

TEST(CureOfAFailure, names_the_command_for_another_url_or_secret) {
  Consumer consumer = webhook();
  fail(consumer, 1h, FailureCause::Address);
  EXPECT_THAT(judge_consumer(consumer).cure,
              HasSubstr("`skua consumers set search --webhook URL`"));
  fail(consumer, 1h, FailureCause::Refused);
  EXPECT_THAT(judge_consumer(consumer).cure, HasSubstr("`skua consumers set search --new-secret`"));
}

TEST(CureOfAFailure, names_the_command_that_ends_the_wait) {
  for (const char* kind : {"projection", "webhook", "pull"}) {
    Consumer consumer = of_kind(kind);
    fail(consumer, 1h, FailureCause::Change);
    EXPECT_THAT(judge_consumer(consumer).cure,
                HasSubstr("`skua consumers resume " + consumer.name + "` tries at once"));
  }
}

TEST(CureOfAFailure, states_the_policy_only_if_attempts_count) {
  Consumer consumer = webhook();
  consumer.policy = "skip";
  fail(consumer, 1h, FailureCause::Slow);
  EXPECT_THAT(judge_consumer(consumer).cure, HasSubstr("is left out as a dead letter"));
  fail(consumer, 1h, FailureCause::Unreachable);
  EXPECT_THAT(judge_consumer(consumer).cure, Not(HasSubstr("dead letter")));
}

TEST(FailureCauseText, can_be_parsed) {
  for (int i = 0; i <= static_cast<int>(FailureCause::Filter); ++i) {
    const auto cause = static_cast<FailureCause>(i);
    EXPECT_EQ(failure_cause(to_string(cause)), cause);
  }
  EXPECT_EQ(failure_cause(""), FailureCause::Change);
}

}  // namespace
}  // namespace skua::consumers::consumer_judgement_test
