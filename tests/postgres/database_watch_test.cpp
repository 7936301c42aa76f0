#include "postgres/database_watch.hpp"

#include <optional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "postgres/migrations.hpp"
#include "support/postgres.hpp"

namespace skua::postgres::database_watch_test {
namespace {

using testing::HasSubstr;

const std::string kUrl = "postgresql://here/skua";

DatabaseIdentity primary() {
  return {.system = "1",
          .timeline = "00000001",
          .oid = "5",
          .token = "a",
          .wal_end = 100,
          .wal_flushed = 90};
}

class DatabaseWatchTest : public testing::Test {
 protected:
  void connect(const DatabaseIdentity& found) {
    watch_.connected(kUrl, found, watch_.flushed(kUrl));
  }
  /// Why a session is refused.
  std::string refusal(const DatabaseIdentity& found) {
    try {
      connect(found);
    } catch (const DatabaseChanged& change) {
      return change.what();
    }
    return {};
  }

  DatabaseWatch watch_;
};

TEST_F(DatabaseWatchTest, the_same_database_is_the_same) {
  connect(primary());
  DatabaseIdentity later = primary();
  later.wal_end = 300;
  later.wal_flushed = 200;
  EXPECT_EQ(refusal(later), "");
  EXPECT_EQ(watch_.flushed(kUrl), 200);
  EXPECT_EQ(watch_.change(kUrl), std::nullopt);
}

TEST_F(DatabaseWatchTest, a_crash_that_lost_nothing_of_what_was_on_disk_is_no_change) {
  connect(primary());
  DatabaseIdentity crashed = primary();
  crashed.wal_end = 90;
  EXPECT_EQ(refusal(crashed), "");
}

TEST_F(DatabaseWatchTest, what_a_server_does_not_say_is_not_compared) {
  connect({.oid = "5"});
  EXPECT_EQ(refusal(primary()), "");
  DatabaseIdentity token = primary();
  token.token = "b";
  EXPECT_NE(refusal(token), "") << "it was made known meanwhile";
}

TEST_F(DatabaseWatchTest, a_promoted_standby_is_another_one_for_every_session_from_then_on) {
  connect(primary());
  DatabaseIdentity promoted = primary();
  promoted.timeline = "00000002";
  EXPECT_THAT(refusal(promoted), HasSubstr("timeline 00000002, and it was 00000001"));
  EXPECT_NE(refusal(primary()), "") << "nothing says what it did meanwhile";
  EXPECT_THAT(watch_.change(kUrl).value_or(""), HasSubstr("timeline"));
  watch_.forget(kUrl);
  EXPECT_EQ(refusal(promoted), "");
}

TEST_F(DatabaseWatchTest, another_cluster_another_token_and_another_number_are_told) {
  for (const int which : {0, 1, 2}) {
    watch_.forget(kUrl);
    connect(primary());
    DatabaseIdentity other = primary();
    if (which == 0) other.system = "2";
    if (which == 1) other.token = "b";
    if (which == 2) other.oid = "6";
    EXPECT_NE(refusal(other), "") << which;
  }
}

TEST_F(DatabaseWatchTest, an_older_state_of_the_same_cluster_is_told) {
  connect(primary());
  watch_.note_flushed(kUrl, 150);
  DatabaseIdentity older = primary();
  older.wal_end = 149;
  EXPECT_THAT(refusal(older), HasSubstr("1 bytes before"));
}

TEST_F(DatabaseWatchTest, a_session_is_compared_with_what_was_known_before_it_connected) {
  connect(primary());
  const auto before = watch_.flushed(kUrl);
  // Another one connects meanwhile, and is told of more.
  watch_.note_flushed(kUrl, 1'000);
  EXPECT_NO_THROW(watch_.connected(kUrl, primary(), before));
}

TEST_F(DatabaseWatchTest, a_standby_after_a_primary_is_waited_for) {
  DatabaseIdentity standby{.system = "1", .oid = "5", .token = "a", .in_recovery = true};
  EXPECT_NO_THROW(connect(standby)) << "who checks the server says so";
  connect(primary());
  for (const bool is_forgotten : {false, true}) {
    if (is_forgotten) watch_.forget(kUrl);
    try {
      connect(standby);
      FAIL() << "it was used";
    } catch (const DatabaseChanged&) {
      FAIL() << "it may be the same";
    } catch (const ServerError& error) {
      EXPECT_TRUE(error.is_unreachable());
    }
  }
}

TEST(DatabaseWatchSession, a_database_that_was_made_anew_is_noticed) {
  SKUA_NEED_POSTGRES();
  test::Database database(test::Database::Content::empty);
  const std::string url = database.url();
  {
    Session first(url, "test");
    migrate(first, schema());
    Session second(url, "test");
  }
  Session server(test::postgres_url().value(), "test");
  server.run("DROP DATABASE " + database.name() + " WITH (FORCE)");
  server.run("CREATE DATABASE " + database.name());
  EXPECT_THROW(Session(url, "test"), DatabaseChanged);
  EXPECT_TRUE(database_watch().change(url));
  database_watch().forget(url);
  EXPECT_NO_THROW(Session(url, "test"));
}

}  // namespace
}  // namespace skua::postgres::database_watch_test
