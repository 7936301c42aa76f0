#include <chrono>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "postgres/database_watch.hpp"
#include "postgres/outage.hpp"

namespace skua::postgres::database_problem_test {
namespace {

using namespace std::chrono_literals;
using Codes = std::vector<std::string_view>;

std::string_view code_of(const std::string& message, const std::string& sqlstate) {
  const Problem* const found = problem_of(ServerError(message, sqlstate));
  return found == nullptr ? "" : found->code;
}

TEST(ProblemOf, reads_the_sqlstate) {
  EXPECT_EQ(code_of("cannot execute INSERT in a read-only transaction", "25006"),
            "database-read-only");
  EXPECT_EQ(code_of("could not extend file: No space left on device", "53100"), "disk-full");
  EXPECT_EQ(code_of("out of shared memory; HINT: increase max_locks_per_transaction", "53200"),
            "lock-table-full");
  EXPECT_EQ(code_of("sorry, too many clients already", "53300"), "connections-full");
  EXPECT_EQ(code_of("the database system is shutting down", "57P03"), "database-down");
  EXPECT_EQ(code_of("connection failure", "08006"), "database-down");
}

TEST(ProblemOf, reads_the_message_of_a_failed_connection) {
  EXPECT_EQ(code_of("connection refused", ""), "database-down");
  EXPECT_EQ(code_of("FATAL: sorry, too many clients already", ""), "connections-full");
  EXPECT_EQ(code_of("FATAL: remaining connection slots are reserved", ""), "connections-full");
  EXPECT_EQ(code_of(std::string(kWaitsForPromotion), "57P03"), "database-read-only");
}

TEST(ProblemOf, knows_no_problem_for_other_errors) {
  EXPECT_EQ(code_of("deadlock detected", "40P01"), "");
  EXPECT_EQ(code_of("lock not available", "55P03"), "");
  // Memory of one server process.
  EXPECT_EQ(code_of("out of memory", "53200"), "");
}

class DatabaseProblemsTest : public testing::Test {
 protected:
  void meet(const std::string& sqlstate, const std::string& message = "m") {
    problems_.met(ServerError(message, sqlstate), now_);
  }
  Codes current() const {
    Codes codes;
    for (const DatabaseProblem& each : problems_.current(now_)) codes.push_back(each.problem->code);
    return codes;
  }

  DatabaseProblem::TimePoint now_{1h};
  DatabaseProblems problems_;
};

TEST_F(DatabaseProblemsTest, forgets_a_problem_that_does_not_come_again) {
  meet("53100");
  EXPECT_EQ(current(), Codes{"disk-full"});
  now_ += DatabaseProblems::kGap;
  EXPECT_EQ(current(), Codes{"disk-full"});
  now_ += 1s;
  EXPECT_EQ(current(), Codes{});
}

TEST_F(DatabaseProblemsTest, knows_how_long_a_problem_lasts_and_its_latest_error) {
  const auto began = now_;
  for (int i = 0; i < 10; ++i) {
    meet("53100", "error " + std::to_string(i));
    now_ += 20s;
  }
  const auto all = problems_.current(now_);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].first, began);
  EXPECT_EQ(all[0].last, began + 180s);
  EXPECT_EQ(all[0].detail, "error 9");
}

TEST_F(DatabaseProblemsTest, begins_again_after_a_time_without_the_problem) {
  meet("53100");
  now_ += 31s;
  meet("53100");
  ASSERT_EQ(problems_.current(now_).size(), 1U);
  EXPECT_EQ(problems_.current(now_)[0].first, now_);
}

TEST_F(DatabaseProblemsTest, keeps_problems_apart_and_ignores_other_errors) {
  meet("25006");
  meet("53100");
  meet("40001");
  EXPECT_EQ(current(), (Codes{"database-read-only", "disk-full"}));
}

}  // namespace
}  // namespace skua::postgres::database_problem_test
