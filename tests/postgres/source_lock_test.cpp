#include <optional>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "postgres/connection_string.hpp"
#include "postgres/locks.hpp"
#include "postgres/migrations.hpp"
#include "support/postgres.hpp"

namespace skua::postgres::source_lock_test {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

class SourceLockTest : public test::PostgresTest {
 protected:
  void SetUp() override { SKUA_NEED_POSTGRES(); }
};

TEST_F(SourceLockTest, a_second_owner_of_a_source_is_refused_by_name) {
  Session first(database_.url(), "skua run pid 7 at here");
  const SourceLock lock(first, "relay:a.test");
  try {
    const SourceLock refused(session(), "relay:a.test", milliseconds(0));
    FAIL() << "two hold the source";
  } catch (const SourceBusy& busy) {
    EXPECT_THAT(busy.what(), HasSubstr("relay:a.test"));
    EXPECT_THAT(busy.what(), HasSubstr("'skua run pid 7 at here'"));
    EXPECT_THAT(busy.what(), HasSubstr("server process " + std::to_string(first.backend_pid())));
  }
  EXPECT_THROW(SourceLock(session(), "relay:a.test", milliseconds(50)), SourceBusy);
  EXPECT_NO_THROW(SourceLock(session(), "relay:b.test", milliseconds(0)));
  EXPECT_TRUE(session().connected());
}

TEST_F(SourceLockTest, one_session_follows_the_directory) {
  EXPECT_EQ(plc_lock_owner(session()), std::nullopt);
  Session first(database_.url(), "skua run");
  EXPECT_TRUE(try_plc_lock(first));
  EXPECT_FALSE(try_plc_lock(session()));
  EXPECT_THAT(plc_lock_owner(session()).value_or(""), HasSubstr("'skua run'"));
}

TEST_F(SourceLockTest, the_owner_of_a_source_is_told) {
  EXPECT_EQ(source_owner(session(), "relay:a.test"), std::nullopt);
  Session first(database_.url(), "skua run");
  const SourceLock lock(first, "relay:a.test");
  EXPECT_THAT(source_owner(session(), "relay:a.test").value_or(""), HasSubstr("'skua run'"));
  EXPECT_EQ(source_owner(session(), "relay:b.test"), std::nullopt);
}

TEST_F(SourceLockTest, a_source_is_free_again_when_its_owner_ends) {
  {
    Session first(database_.url(), "first");
    const SourceLock lock(first, "relay:a.test");
  }
  EXPECT_NO_THROW(SourceLock(session(), "relay:a.test"));
  // The session may outlive its lock.
  Session second(database_.url(), "second");
  EXPECT_NO_THROW(SourceLock(second, "relay:a.test", milliseconds(0)));
}

TEST_F(SourceLockTest, a_source_whose_owner_is_dying_is_waited_for) {
  std::optional<Session> dying;
  dying.emplace(database_.url(), "dying");
  const SourceLock lock(*dying, "relay:a.test");
  Session killer(database_.url(), "killer");
  // The lock is asked for while it is held; the owner goes when the other is seen to wait for it.
  std::thread end([&] {
    while (!test::a_session_waits_for_a_lock(killer)) std::this_thread::yield();
    killer.run("SELECT pg_terminate_backend(" + std::to_string(dying->backend_pid()) + ")");
  });
  EXPECT_NO_THROW(SourceLock(session(), "relay:a.test", std::chrono::seconds(60)));
  end.join();
}

TEST_F(SourceLockTest, a_former_session_of_this_process_is_ended) {
  Session former(database_.url(), process_name("skua run relay:a.test"));
  const SourceLock lock(former, "relay:a.test");
  Session stranger(database_.url(), "skua run relay:b.test pid 7 at here");
  const SourceLock others(stranger, "relay:b.test");
  EXPECT_NO_THROW(SourceLock(session(), "relay:a.test"));
  EXPECT_THROW(former.run("SELECT 1"), ServerError);
  EXPECT_THROW(SourceLock(session(), "relay:b.test", milliseconds(100)), SourceBusy);
  EXPECT_NO_THROW(stranger.run("SELECT 1")) << "another process's is left alone";
}

TEST_F(SourceLockTest, a_former_session_of_this_process_does_not_keep_the_directory) {
  Session stranger(database_.url(), "skua run pid 7 at here");
  EXPECT_TRUE(try_plc_lock(stranger));
  EXPECT_FALSE(try_plc_lock(session()));
  EXPECT_NO_THROW(stranger.run("SELECT pg_advisory_unlock_all()"));
  Session former(database_.url(), process_name("skua plc tail"));
  EXPECT_TRUE(try_plc_lock(former));
  EXPECT_FALSE(try_plc_lock(session()));
  EXPECT_THROW(former.run("SELECT 1"), ServerError);
}

TEST_F(SourceLockTest, all_sources_can_be_kept_away_while_none_is_held) {
  Session a(database_.url(), "first");
  Session b(database_.url(), "second");
  EXPECT_EQ(any_source_owner(session()), std::nullopt);
  session().begin();
  {
    const SourceLock relay(a, "relay:a.test");
    const SourceLock other(b, "relay:b.test");
    EXPECT_FALSE(keep_sources_away_xact(session()));
    EXPECT_NE(any_source_owner(session()), std::nullopt);
  }
  auto relay = std::make_optional<SourceLock>(a, "relay:a.test");
  EXPECT_FALSE(keep_sources_away_xact(session()));
  EXPECT_THAT(any_source_owner(session()).value_or("nobody"), HasSubstr("'first'"));
  relay.reset();
  EXPECT_TRUE(keep_sources_away_xact(session()));
  b.run("SET lock_timeout = 50");
  EXPECT_THROW(SourceLock(b, "relay:b.test"), ServerError) << "it would wait for the end";
  session().commit();
  EXPECT_NO_THROW(SourceLock(a, "relay:b.test")) << "who did not get both locks has none";
}

TEST_F(SourceLockTest, no_number_of_an_account_or_handle_can_meet_its_locks) {
  const SourceLock lock(session(), "relay:a.test");
  const MigrationLock migration(session());
  EXPECT_EQ(value("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2 "
                  "AND pid = pg_backend_pid()"),
            "3");
  EXPECT_EQ(value("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 1 "
                  "AND pid = pg_backend_pid()"),
            "0");
}

TEST_F(SourceLockTest, nothing_is_migrated_while_a_source_is_held) {
  Session run(database_.url(), "skua run");
  auto lock = std::make_optional<SourceLock>(run, "relay:a.test");
  const Migration next{9999, "next", "CREATE TABLE public.next (x int4)"};
  Schema known = schema();
  known.migrations.push_back(next);
  try {
    migrate(session(), known);
    FAIL() << "it changed the schema below a run";
  } catch (const SourceBusy& busy) {
    EXPECT_THAT(busy.what(), HasSubstr("'skua run'"));
  }
  EXPECT_TRUE(migrate(session(), schema()).empty()) << "there is nothing to do";
  lock.reset();
  EXPECT_EQ(migrate(session(), known).migrations.size(), 1U);
  EXPECT_NO_THROW(SourceLock(run, "relay:a.test"));
}

}  // namespace
}  // namespace skua::postgres::source_lock_test
