#include "doctor/database_checks.hpp"

#include <chrono>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "findings.hpp"
#include "support/postgres.hpp"

namespace skua::doctor::database_checks_test {
namespace {

using doctor::test::brief;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsSupersetOf;

class DatabaseChecksTest : public skua::test::PostgresTest {
 protected:
  void SetUp() override { SKUA_NEED_POSTGRES(); }

  Findings findings_of(std::chrono::milliseconds limit = std::chrono::seconds(30)) {
    DatabaseOptions options{
        .url = database_.url(), .needs = {.locks = 1, .connections = 1}, .limit = limit};
    return DatabaseChecks(options, system_clock()).finish().findings;
  }
};

TEST_F(DatabaseChecksTest, every_check_of_a_new_database_is_made_and_ok) {
  std::set<std::string> checks;
  for (const Finding& finding : findings_of()) {
    checks.insert(finding.check);
    // The disk of the machine that runs the tests may be full.
    if (finding.check == "disk") continue;
    EXPECT_EQ(finding.level, Level::Ok) << finding.check << ": " << finding.detail;
  }
  EXPECT_THAT(checks,
              IsSupersetOf({"server", "connection", "settings", "replication", "disk", "schema",
                            "role", "reader role", "indexes", "bootstrap", "consumers",
                            "change log", "messages", "dead letters", "repositories"}));
}

TEST_F(DatabaseChecksTest, a_check_that_fails_does_not_prevent_the_next_one) {
  session().run("ALTER VIEW skua.dead_letter_errors RENAME COLUMN error TO reason");
  std::vector<std::string> problems;
  for (const Finding& finding : findings_of()) {
    if (finding.level == Level::Ok || finding.check == "disk") continue;
    problems.push_back(finding.check + ": " + brief(finding));
  }
  EXPECT_THAT(problems, ElementsAre("dead letters: warning check-failed"));
}

TEST_F(DatabaseChecksTest, an_answer_after_the_limit_is_not_awaited) {
  // The thread cannot connect before the limit.
  const Findings findings = findings_of(std::chrono::milliseconds(0));
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(brief(findings[0]), "error database-down");
  EXPECT_THAT(findings[0].detail, HasSubstr("have not ended"));
}

TEST_F(DatabaseChecksTest, postgresql_clock_is_compared) {
  const DatabaseOptions options{.url = database_.url(), .needs = {.locks = 1, .connections = 1}};
  const auto ahead = DatabaseChecks(options, system_clock()).finish().server_ahead;
  ASSERT_TRUE(ahead.has_value());
  EXPECT_LT(std::chrono::abs(*ahead), std::chrono::seconds(5));
}

}  // namespace
}  // namespace skua::doctor::database_checks_test
