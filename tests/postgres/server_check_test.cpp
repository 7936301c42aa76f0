#include "postgres/server_check.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/postgres.hpp"

namespace skua::postgres::server_check_test {
namespace {

using testing::HasSubstr;

std::vector<ServerProblem> problems_of(Session& session, const ServerNeeds& needs) {
  return server_problems(read_server_facts(session), needs);
}

class ServerCheckTest : public test::PostgresTest {
 protected:
  void SetUp() override { SKUA_NEED_POSTGRES(); }
};

TEST_F(ServerCheckTest, a_server_that_is_enough_has_no_problem) {
  EXPECT_TRUE(problems_of(session(), {.locks = 100, .connections = 5}).empty());
}

TEST_F(ServerCheckTest, a_small_lock_table_is_told_with_the_setting) {
  const auto sharers =
      std::stoull(value("SELECT current_setting('max_connections')::int8 + "
                        "current_setting('max_prepared_transactions')::int8"));
  const auto locks = sharers * std::stoull(value("SHOW max_locks_per_transaction"));
  EXPECT_TRUE(problems_of(session(), {.locks = locks, .connections = 5}).empty());
  const auto problems = problems_of(session(), {.locks = locks + 1, .connections = 5});
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_THAT(problems[0].text, HasSubstr("set max_locks_per_transaction = "));
  const std::size_t place = problems[0].text.find(" = ") + 3;
  EXPECT_GT(std::stoull(problems[0].text.substr(place)) * sharers, locks);
}

TEST_F(ServerCheckTest, too_few_connections_are_told_with_the_setting) {
  const auto problems = problems_of(session(), {.locks = 1, .connections = 100'000});
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_THAT(problems[0].text, HasSubstr("set max_connections = "));
}

TEST_F(ServerCheckTest, a_server_that_may_lose_what_is_committed_is_told_to_who_needs_it) {
  // The tests' own server is one.
  if (value("SHOW fsync") == "on") GTEST_SKIP() << "a server with fsync on";
  const auto problems = problems_of(session(), {.locks = 1, .connections = 1, .durable = true});
  ASSERT_EQ(problems.size(), 2U);
  EXPECT_THAT(problems[0].text, HasSubstr("set fsync = on"));
  EXPECT_THAT(problems[0].text, HasSubstr("--allow-unsafe-database"));
  EXPECT_THAT(problems[1].text, HasSubstr("set full_page_writes = on"));
}

TEST_F(ServerCheckTest, a_direct_connection_is_not_pooled) {
  EXPECT_FALSE(session().is_pooled());
  EXPECT_EQ(pooling_problem(session(), database_.url()), std::nullopt);
}

TEST_F(ServerCheckTest, another_encoding_is_told) {
  session().run("CREATE DATABASE " + database_.name() +
                "_latin TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C'");
  std::vector<ServerProblem> problems;
  {
    Session latin(test::url_of_database(database_.name() + "_latin"), "test");
    problems = problems_of(latin, {.locks = 1, .connections = 1});
  }
  session().run("DROP DATABASE " + database_.name() + "_latin WITH (FORCE)");
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_THAT(problems[0].text, HasSubstr("LATIN1, it must be UTF8"));
}

}  // namespace
}  // namespace skua::postgres::server_check_test
