#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "doctor/finding.hpp"

namespace skua::doctor::report_test {
namespace {

using testing::HasSubstr;
using testing::Not;

const Findings kAll{ok("disk", "12 GB"),
                    advice("settings", problem("server-settings"), "better values"),
                    warning("role", problem("role-rights"), "may not", "Grant it."),
                    error("database", problem("database-down"), "refused")};

TEST(Report, an_error_is_not_healthy_and_a_warning_only_if_strict) {
  struct Case {
    Findings findings;
    bool healthy;
    bool strictly;
  };
  for (const auto& [findings, healthy, strictly] :
       {Case{{}, true, true}, Case{{kAll[0], kAll[1]}, true, true},
        Case{{kAll[0], kAll[2]}, true, false}, Case{{kAll[3]}, false, false}}) {
    EXPECT_EQ(is_healthy(findings, false), healthy);
    EXPECT_EQ(is_healthy(findings, true), strictly);
  }
}

TEST(Report, of_people_has_the_code_and_the_cure_below) {
  const std::string text = report_text(kAll);
  EXPECT_THAT(text, HasSubstr("ok       disk      12 GB\nok       settings"));
  EXPECT_THAT(text, HasSubstr("warning  role      may not [role-rights]\n         Grant it.\n"));
  EXPECT_THAT(text, HasSubstr("refused [database-down]\n         Start PostgreSQL."));
  EXPECT_THAT(text, HasSubstr("\n\n1 error, 1 warning\n"));
}

TEST(Report, a_check_that_was_not_made_is_not_ok) {
  const Findings findings{ok("disk", "12 GB"), skipped("clocks", "not compared", "Ask again.")};
  EXPECT_TRUE(is_healthy(findings, true));
  const std::string text = report_text(findings, true);
  EXPECT_THAT(text, HasSubstr("skipped  clocks  not compared\n         Ask again.\n"));
  EXPECT_THAT(text, HasSubstr("\n0 errors, 0 warnings, 1 check skipped\n"));
  const auto report = nlohmann::json::parse(report_json(findings));
  EXPECT_EQ(report["skipped"], 1);
  EXPECT_EQ(report["findings"][1]["level"], "skipped");
}

TEST(Report, that_is_quiet_leaves_out_what_is_ok) {
  const std::string text = report_text(kAll, true);
  EXPECT_THAT(text, Not(HasSubstr("ok ")));
  EXPECT_THAT(text, HasSubstr("[role-rights]"));
}

TEST(Report, of_scripts_has_every_finding) {
  const auto report = nlohmann::json::parse(report_json(kAll));
  EXPECT_EQ(report["errors"], 1);
  EXPECT_EQ(report["warnings"], 1);
  ASSERT_EQ(report["findings"].size(), 4U);
  EXPECT_EQ(report["findings"][0]["level"], "ok");
  EXPECT_TRUE(report["findings"][0]["code"].is_null());
  EXPECT_TRUE(report["findings"][0]["cure"].is_null());
  EXPECT_EQ(report["findings"][2]["cure"], "Grant it.");
  EXPECT_EQ(report["findings"][3]["code"], "database-down");
  EXPECT_EQ(report["findings"][3]["cure"], problem("database-down").cure);
}

TEST(Report, text_of_the_network_cannot_break_the_terminal_or_the_json) {
  const Findings hostile{warning("x", problem("dead-letters"), "a\x1b[2J\xff\n")};
  EXPECT_THAT(report_text(hostile), HasSubstr("a?[2J?"));
  EXPECT_TRUE(nlohmann::json::accept(report_json(hostile)));
}

}  // namespace
}  // namespace skua::doctor::report_test
