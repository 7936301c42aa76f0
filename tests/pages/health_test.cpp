#include "pages/health.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "postgres/database_watch.hpp"
#include "postgres/migrations.hpp"

namespace skua::pages::health_test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Codes = std::vector<std::string_view>;
using Phase = ProcessState::Phase;

Codes codes(const std::vector<Reason>& reasons) {
  Codes all;
  for (const Reason& reason : reasons) all.push_back(reason.problem->code);
  return all;
}

/// A process that reads one relay, without a problem.
class JudgeTest : public testing::Test {
 protected:
  JudgeTest() {
    observed_.now = Observed::TimePoint(100h);
    observed_.process.phase = Phase::Running;
    pipeline::SourceState relay;
    relay.source = "relay:a.example";
    relay.connected = true;
    relay.changed_at = observed_.now - 1h;
    relay.heard_at = observed_.now - 1s;
    relay.lag = 100ms;
    observed_.process.sources.push_back(relay);
    observed_.database = DatabaseState{.schema_version = postgres::schema().version()};
  }

  Health health() const { return judge(observed_, limits_); }
  Codes reasons() const { return codes(health().reasons); }
  Codes warnings() const { return codes(health().warnings); }
  std::string detail() const { return health().reasons.at(0).detail; }
  pipeline::SourceState& relay() { return observed_.process.sources.at(0); }
  void disconnect(std::chrono::seconds since) {
    relay().connected = false;
    relay().changed_at = observed_.now - since;
  }
  void met(std::string_view code, std::chrono::seconds lasts) {
    observed_.database_problems.push_back({.problem = find_problem(code),
                                           .detail = "what the server said",
                                           .first = observed_.now - lasts,
                                           .last = observed_.now});
  }

  Observed observed_;
  HealthLimits limits_;
};

TEST_F(JudgeTest, a_process_without_problems_is_ready) {
  EXPECT_TRUE(health().is_ready());
  EXPECT_THAT(reasons(), IsEmpty());
  EXPECT_THAT(warnings(), IsEmpty());
}

TEST_F(JudgeTest, a_process_that_starts_or_ends_is_not_ready) {
  for (const Phase phase : {Phase::Starting, Phase::Stopping}) {
    observed_.process.phase = phase;
    EXPECT_FALSE(health().is_ready());
    EXPECT_THAT(reasons(), IsEmpty());
  }
}

TEST_F(JudgeTest, a_standby_that_is_behind_is_a_reason) {
  observed_.database->standby_lag = limits_.behind - 1ms;
  EXPECT_THAT(reasons(), IsEmpty());
  observed_.database->standby_lag = limits_.behind;
  EXPECT_THAT(reasons(), ElementsAre("standby-behind"));
  EXPECT_EQ(detail(), "this standby is 60.0 s behind its primary");
}

TEST_F(JudgeTest, an_outage_is_database_down_with_its_time_and_error) {
  observed_.outage = Observed::Outage{75s, "connection refused"};
  observed_.database.reset();
  met("database-down", 75s);
  EXPECT_THAT(reasons(), ElementsAre("database-down"));
  EXPECT_EQ(detail(), "for 75 s: connection refused");
}

TEST_F(JudgeTest, an_outage_that_has_ended_is_no_reason) {
  met("database-down", 75s);
  EXPECT_THAT(reasons(), IsEmpty());
}

TEST_F(JudgeTest, a_database_that_does_not_answer_is_down_after_some_seconds) {
  observed_.unanswered = 4'999ms;
  EXPECT_THAT(reasons(), IsEmpty());
  observed_.unanswered = 5'000ms;
  EXPECT_THAT(reasons(), ElementsAre("database-down"));
}

TEST_F(JudgeTest, a_standby_is_read_only) {
  observed_.outage = Observed::Outage{1s, std::string(postgres::kWaitsForPromotion)};
  observed_.database.reset();
  EXPECT_THAT(reasons(), ElementsAre("database-read-only"));
}

TEST_F(JudgeTest, a_read_only_database_is_a_reason_for_a_process_that_writes) {
  observed_.database->is_read_only = true;
  EXPECT_THAT(reasons(), ElementsAre("database-read-only"));
  observed_.process.writes = false;
  EXPECT_THAT(reasons(), IsEmpty());
}

TEST_F(JudgeTest, errors_of_statements_are_reasons_with_what_the_server_said) {
  met("disk-full", 0s);
  met("connections-full", 0s);
  EXPECT_THAT(reasons(), ElementsAre("disk-full", "connections-full"));
  EXPECT_EQ(detail(), "what the server said");
}

TEST_F(JudgeTest, a_read_only_error_counts_until_the_database_says_otherwise) {
  met("database-read-only", 0s);
  EXPECT_THAT(reasons(), IsEmpty());
  observed_.database.reset();
  EXPECT_THAT(reasons(), ElementsAre("database-read-only"));
}

TEST_F(JudgeTest, a_full_lock_table_counts_when_it_lasts) {
  met("lock-table-full", 29s);
  EXPECT_THAT(reasons(), IsEmpty());
  observed_.database_problems.clear();
  met("lock-table-full", 30s);
  EXPECT_THAT(reasons(), ElementsAre("lock-table-full"));
}

TEST_F(JudgeTest, a_schema_of_another_version_is_a_reason) {
  observed_.database->schema_version += 1;
  EXPECT_THAT(reasons(), ElementsAre("schema-new"));
  observed_.database->schema_version = 7;
  EXPECT_THAT(reasons(), ElementsAre("schema-old"));
  EXPECT_THAT(detail(), HasSubstr("database is 0007, of this program 00"));
}

TEST_F(JudgeTest, messages_that_nobody_moves_are_a_reason) {
  observed_.database->inbox = {.waiting = 3, .oldest = std::chrono::seconds(59)};
  EXPECT_THAT(reasons(), ElementsAre());
  observed_.database->inbox.oldest = std::chrono::seconds(60);
  EXPECT_THAT(reasons(), ElementsAre("messages-waiting"));
}

TEST_F(JudgeTest, an_open_bootstrap_is_a_reason) {
  observed_.database->bootstrap_is_open = true;
  EXPECT_THAT(reasons(), ElementsAre("bootstrap-open"));
}

TEST_F(JudgeTest, each_stuck_consumer_is_a_reason) {
  const auto stuck = [](const char* reason, const char* cure) {
    return consumers::ConsumerJudgement{consumers::ConsumerJudgement::Level::Stuck, "paused",
                                        &problem("consumer-stuck"), reason, cure};
  };
  observed_.database->stuck_consumers = {{"post_stats", stuck("it is paused", "Resume it.")},
                                         {"hook", stuck("deliveries fail", "Start it.")}};
  EXPECT_THAT(reasons(), ElementsAre("consumer-stuck", "consumer-stuck"));
  EXPECT_EQ(detail(), "post_stats: it is paused");
  EXPECT_EQ(health().reasons[1].subject, "hook");
  EXPECT_EQ(health().reasons[1].cure, "Start it.");
}

TEST_F(JudgeTest, tables_that_cannot_be_dropped_are_a_warning) {
  observed_.database->kept_tables = {
      {"post_stats",
       {consumers::ConsumerJudgement::Level::Notice, "not dropped", &problem("former-tables"),
        "views read them", "Run `drop view mine`."}}};
  EXPECT_TRUE(health().is_ready());
  EXPECT_THAT(warnings(), ElementsAre("former-tables"));
  EXPECT_EQ(health().warnings.at(0).detail, "post_stats: views read them");
  EXPECT_EQ(health().warnings.at(0).cure, "Run `drop view mine`.");
}

TEST_F(JudgeTest, dead_letters_are_a_warning) {
  observed_.database->dead_letters = 1;
  EXPECT_TRUE(health().is_ready());
  EXPECT_THAT(warnings(), ElementsAre("dead-letters"));
  EXPECT_EQ(health().warnings.at(0).detail, "1 dead letter");
  observed_.database->dead_letters = DatabaseState::kMostLetters;
  EXPECT_EQ(health().warnings.at(0).detail, "1000 or more");
}

TEST_F(JudgeTest, a_short_interruption_of_a_source_is_no_reason) {
  disconnect(4s);
  EXPECT_THAT(reasons(), IsEmpty());
  disconnect(5s);
  EXPECT_THAT(reasons(), ElementsAre("source-down"));
  EXPECT_EQ(detail(), "relay:a.example: no connection for 5 s");
}

TEST_F(JudgeTest, a_source_that_is_down_names_its_last_error) {
  disconnect(90s);
  relay().failure = "connection refused";
  relay().problem = &problem("source-down");
  EXPECT_EQ(detail(), "relay:a.example: no connection for 90 s: connection refused");
}

TEST_F(JudgeTest, a_wrong_certificate_has_a_code_of_its_own) {
  disconnect(90s);
  relay().failure = "the certificate has expired";
  relay().problem = &problem("source-tls");
  EXPECT_THAT(reasons(), ElementsAre("source-tls"));
  EXPECT_THAT(detail(), HasSubstr("the certificate has expired"));
}

TEST_F(JudgeTest, a_relay_that_stands_by_is_not_judged) {
  disconnect(90s);
  relay().is_standby = true;
  relay().outdated_at = observed_.now;
  EXPECT_THAT(reasons(), IsEmpty());
}

TEST_F(JudgeTest, a_connected_source_without_messages_is_silent) {
  relay().heard_at = observed_.now - 44s;
  EXPECT_THAT(reasons(), IsEmpty());
  relay().heard_at = observed_.now - 45s;
  EXPECT_THAT(reasons(), ElementsAre("source-silent"));
  EXPECT_EQ(detail(), "relay:a.example: no message for 45 s");
}

TEST_F(JudgeTest, a_source_is_not_silent_if_nothing_is_expected_or_this_process_is_full) {
  relay().heard_at = observed_.now - 10h;
  relay().may_be_silent = true;
  EXPECT_THAT(reasons(), IsEmpty());
  relay().may_be_silent = false;
  relay().waits_for_room = true;
  EXPECT_THAT(reasons(), IsEmpty());
}

TEST_F(JudgeTest, a_source_that_was_down_is_not_silent_at_once) {
  relay().heard_at = observed_.now - 10min;
  relay().changed_at = observed_.now - 1s;
  relay().problem = &problem("source-down");
  EXPECT_THAT(reasons(), IsEmpty());
}

TEST_F(JudgeTest, a_new_connection_does_not_end_the_silence_of_a_source) {
  relay().heard_at = observed_.now - 61s;
  relay().problem = &problem("source-silent");
  relay().changed_at = observed_.now - 1s;
  EXPECT_THAT(reasons(), ElementsAre("source-silent"));
  disconnect(1s);
  EXPECT_THAT(reasons(), ElementsAre("source-silent"));
  relay().heard_at = observed_.now;
  EXPECT_THAT(reasons(), IsEmpty());
}

TEST_F(JudgeTest, a_lag_from_the_limit_on_is_a_reason) {
  relay().lag = 60s - 1us;
  EXPECT_THAT(reasons(), IsEmpty());
  relay().lag = 60s;
  EXPECT_THAT(reasons(), ElementsAre("source-behind"));
  limits_.behind = 2min;
  EXPECT_THAT(reasons(), IsEmpty());
  relay().lag.reset();
  EXPECT_THAT(reasons(), IsEmpty());
}

TEST_F(JudgeTest, an_outdated_cursor_counts_for_an_hour) {
  relay().outdated_at = observed_.now - 59min;
  EXPECT_THAT(reasons(), ElementsAre("cursor-outdated"));
  relay().outdated_at = observed_.now - 1h;
  EXPECT_THAT(reasons(), IsEmpty());
}

TEST_F(JudgeTest, clocks_that_differ_are_a_reason_in_both_directions) {
  for (const auto ahead : {std::chrono::microseconds(10s), std::chrono::microseconds(-10s)}) {
    observed_.process.server_clock_ahead = ahead;
    EXPECT_THAT(reasons(), ElementsAre("clock-wrong"));
  }
  observed_.process.server_clock_ahead = 1s;
  EXPECT_THAT(reasons(), IsEmpty());
  observed_.process.frames_held = 3;
  EXPECT_THAT(reasons(), ElementsAre("clock-wrong"));
  EXPECT_THAT(detail(), HasSubstr("3 messages held"));
}

TEST_F(JudgeTest, a_directory_is_down_after_failures_in_a_row) {
  observed_.process.directory_failures = 4;
  observed_.process.directory_failed_at = observed_.now;
  EXPECT_THAT(reasons(), IsEmpty());
  observed_.process.directory_failures = 5;
  EXPECT_THAT(reasons(), ElementsAre("plc-down"));
  // There was no request since the last failure.
  observed_.process.directory_failed_at = observed_.now - 5min;
  EXPECT_THAT(reasons(), IsEmpty());
}

TEST_F(JudgeTest, an_export_that_cannot_be_read_is_a_warning) {
  observed_.process.plc_tail_failures = 4;
  observed_.process.plc_tail_failed_at = observed_.now;
  EXPECT_THAT(warnings(), IsEmpty());
  observed_.process.plc_tail_failures = 5;
  EXPECT_THAT(warnings(), ElementsAre("plc-down"));
  EXPECT_THAT(reasons(), IsEmpty());
  // One of both is enough.
  observed_.process.directory_failures = 5;
  observed_.process.directory_failed_at = observed_.now;
  EXPECT_THAT(reasons(), ElementsAre("plc-down"));
  EXPECT_THAT(warnings(), IsEmpty());
}

TEST_F(JudgeTest, quiet_collections_are_one_reason) {
  observed_.quiet_collections = {"app.bsky.feed.like", "app.bsky.graph.follow"};
  EXPECT_THAT(reasons(), ElementsAre("collection-quiet"));
  EXPECT_EQ(detail(), "no events for 10 min: app.bsky.feed.like, app.bsky.graph.follow");
}

TEST_F(JudgeTest, a_refused_account_is_a_warning_for_an_hour) {
  observed_.process.cut_off = 2;
  observed_.cut_off_at = observed_.now - 59min;
  EXPECT_TRUE(health().is_ready());
  EXPECT_THAT(warnings(), ElementsAre("account-cut-off"));
  observed_.cut_off_at = observed_.now - 1h;
  EXPECT_THAT(warnings(), IsEmpty());
}

TEST_F(JudgeTest, reports_all_problems_together) {
  disconnect(1min);
  relay().lag = 1h;
  observed_.outage = Observed::Outage{1s, "refused"};
  observed_.database.reset();
  EXPECT_THAT(reasons(), ElementsAre("database-down", "source-down", "source-behind"));
}

TEST(JudgedProblems, are_all_in_the_list_once) {
  Codes all;
  for (const Problem* problem : judged_problems()) all.push_back(problem->code);
  EXPECT_EQ(all.size(), 22U);
  EXPECT_THAT(all, testing::Contains("database-down"));
  EXPECT_THAT(all, testing::Contains("account-cut-off"));
  EXPECT_THAT(all, testing::Not(testing::Contains("index-invalid")));
}

}  // namespace
}  // namespace skua::pages::health_test
