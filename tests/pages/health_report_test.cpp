#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "pages/health.hpp"

namespace skua::pages::health_report_test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

Health unwell() {
  Health health;
  health.reasons.push_back({&problem("disk-full"), "No space left on \"/data\" \xff"});
  health.warnings.push_back({&problem("dead-letters"), "2 dead letters"});
  return health;
}

TEST(ReadyResponse, is_200_without_reasons) {
  Health health;
  health.warnings.push_back({&problem("dead-letters"), "2 dead letters"});
  const auto response = ready_response(health);
  EXPECT_EQ(response.status, 200U);
  const json body = json::parse(response.body);
  EXPECT_EQ(body["status"], "ready");
  EXPECT_EQ(body["reasons"], json::array());
  EXPECT_EQ(body["warnings"][0]["code"], "dead-letters");
}

TEST(ReadyResponse, is_exactly_this_without_problems) {
  EXPECT_EQ(ready_response(Health()).body, R"({"status":"ready","reasons":[],"warnings":[]})"
                                           "\n");
}

TEST(ReadyResponse, is_503_with_code_title_detail_and_cure_of_each_reason) {
  const auto response = ready_response(unwell());
  EXPECT_EQ(response.status, 503U);
  EXPECT_EQ(response.content_type, "application/json");
  const json body = json::parse(response.body);
  EXPECT_EQ(body["status"], "not-ready");
  ASSERT_EQ(body["reasons"].size(), 1U);
  const json& reason = body["reasons"][0];
  EXPECT_EQ(reason.size(), 5U);
  EXPECT_EQ(reason["code"], "disk-full");
  EXPECT_EQ(reason["title"], problem("disk-full").title);
  EXPECT_EQ(reason["detail"], "No space left on \"/data\" \ufffd");
  EXPECT_EQ(reason["cure"], problem("disk-full").cure);
  EXPECT_TRUE(reason["subject"].is_null());
}

TEST(ReadyResponse, has_the_subject_of_a_reason_and_its_own_cure) {
  Health health;
  health.reasons = {{&problem("consumer-stuck"), "search: it is paused", "search", "Resume it."}};
  const json reason = json::parse(ready_response(health).body)["reasons"][0];
  EXPECT_EQ(reason["subject"], "search");
  EXPECT_EQ(reason["cure"], "Resume it.");
}

TEST(ReadyResponse, is_503_while_the_process_starts_and_ends) {
  Health health;
  health.phase = ProcessState::Phase::Starting;
  EXPECT_EQ(ready_response(health).status, 503U);
  EXPECT_EQ(json::parse(ready_response(health).body)["status"], "starting");
  health.phase = ProcessState::Phase::Stopping;
  EXPECT_EQ(ready_response(health).status, 503U);
  EXPECT_EQ(json::parse(ready_response(health).body)["status"], "stopping");
}

TEST(ProblemMetrics, have_each_code_once_with_1_for_reasons_and_warnings) {
  const std::string text = status::prometheus_text(problem_metrics(unwell()));
  EXPECT_THAT(text, HasSubstr("# TYPE skua_problem gauge\n"));
  EXPECT_THAT(text, HasSubstr("skua_problem{code=\"disk-full\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("skua_problem{code=\"dead-letters\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("skua_problem{code=\"database-down\"} 0\n"));
  EXPECT_EQ(problem_metrics(Health()).size(), judged_problems().size());
}

}  // namespace
}  // namespace skua::pages::health_report_test
