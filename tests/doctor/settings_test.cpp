#include <optional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "doctor/server.hpp"
#include "findings.hpp"

namespace skua::doctor::settings_test {
namespace {

using test::brief;
using testing::HasSubstr;

const std::optional<std::string> kReader = "'skua run relay:a pid 7'";
const std::string kOrigin = "http://127.0.0.1:2580";

TEST(JudgeSettings, states_whose_settings_were_examined) {
  const Finding finding = judge_settings(
      {.origin = kOrigin, .uses_database = true, .examined = "--relay ws://a"}, kReader);
  EXPECT_EQ(brief(finding), "ok");
  EXPECT_EQ(finding.detail,
            "those of the process at http://127.0.0.1:2580, and the flags of this command; "
            "examined: --relay ws://a");
}

TEST(JudgeSettings, a_process_that_was_not_asked_or_does_not_answer_leaves_the_check_out) {
  for (const SettingsFound& found :
       {SettingsFound{}, SettingsFound{.origin = kOrigin, .failure = "connection refused"},
        SettingsFound{.origin = kOrigin, .uses_database = false}}) {
    EXPECT_EQ(brief(judge_settings(found, kReader)), "skipped");
    EXPECT_THAT(judge_settings(found, kReader).cure, HasSubstr("--http ADDRESS:PORT"));
  }
  const Finding finding =
      judge_settings({.origin = kOrigin, .failure = "connection refused"}, kReader);
  EXPECT_THAT(finding.detail, HasSubstr("connection refused. A source is read by 'skua run"));
}

TEST(JudgeSettings, without_a_process_its_own_settings_are_examined) {
  const Finding finding = judge_settings(
      {.origin = kOrigin, .failure = "connection refused", .examined = "--verify full"},
      std::nullopt);
  EXPECT_EQ(brief(finding), "ok");
  EXPECT_EQ(finding.detail, "no process reads a source; examined: --verify full");
}

}  // namespace
}  // namespace skua::doctor::settings_test
