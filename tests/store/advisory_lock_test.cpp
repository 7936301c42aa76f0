#include "store/advisory_lock.hpp"

#include <optional>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/postgres.hpp"

namespace skua::store::advisory_lock_test {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

TEST(LockKeyTest, is_fixed_for_ever) {
  // Processes of different versions share a database: these numbers must never change.
  EXPECT_EQ(lock_key(0, ""), static_cast<std::int64_t>(0xaf63bd4c8601b7dfULL));
  EXPECT_EQ(lock_key('f', "oobar"), static_cast<std::int64_t>(0x85944171f73967e8ULL));
}

TEST(LockKeyTest, types_and_accounts_have_their_own) {
  std::set<std::int64_t> keys;
  for (std::uint8_t type = 0; type < 5; ++type) {
    for (int i = 0; i < 1000; ++i) keys.insert(lock_key(type, "did:plc:" + std::to_string(i)));
  }
  EXPECT_EQ(keys.size(), 5000U);
}

class AdvisoryLockTest : public test::PostgresTest {
 protected:
  void SetUp() override { SKUA_NEED_POSTGRES(); }
};

TEST_F(AdvisoryLockTest, try_tells_which_are_busy) {
  Session other(database_.url(), "other");
  other.begin();
  EXPECT_EQ(try_lock_xact(other, std::vector<std::int64_t>{2, 4}), (std::vector{true, true}));
  session().begin();
  EXPECT_EQ(try_lock_xact(session(), std::vector<std::int64_t>{1, 2, 3, 4}),
            (std::vector{true, false, true, false}));
  other.commit();
  EXPECT_EQ(try_lock_xact(session(), std::vector<std::int64_t>{2}), std::vector{true});
  session().commit();
  EXPECT_TRUE(try_lock_xact(session(), {}).empty());
}

TEST_F(AdvisoryLockTest, locks_are_taken_in_ascending_order_whatever_the_order_they_come_in) {
  session().begin();
  lock_xact(session(), {2});
  Session waiter(database_.url(), "waiter");
  const std::string pid = std::to_string(waiter.backend_pid());
  std::thread wait([&] {
    waiter.begin();
    lock_xact(waiter, {3, 2, -1, 1, 2, -1});
    waiter.commit();
  });
  const auto keys = [&](const char* granted) {
    return value(
        "SELECT coalesce(string_agg((classid::int8 << 32 | objid::int8)::text, ' ' ORDER BY "
        "classid::int8 << 32 | objid::int8), '') FROM pg_locks WHERE locktype = 'advisory' AND "
        "pid = " +
        pid + " AND " + granted);
  };
  while (keys("NOT granted") != "2") std::this_thread::yield();
  EXPECT_EQ(keys("granted"), "-1 1");
  session().commit();
  wait.join();
}

TEST_F(AdvisoryLockTest, overlapping_batches_never_deadlock) {
  const std::string url = database_.url();
  std::vector<std::thread> threads;
  for (unsigned seed = 1; seed <= 4; ++seed) {
    threads.emplace_back([&url, seed] {
      Session session(url, "locker");
      std::mt19937 random(seed);
      for (int round = 0; round < 50; ++round) {
        std::vector<std::int64_t> keys;
        for (int i = 0; i < 20; ++i) keys.push_back(static_cast<std::int64_t>(random() % 40) - 20);
        session.begin();
        EXPECT_NO_THROW(lock_xact(session, keys));
        session.commit();
      }
    });
  }
  for (auto& thread : threads) thread.join();
}

TEST_F(AdvisoryLockTest, a_second_holder_of_a_source_is_refused_by_name) {
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

TEST_F(AdvisoryLockTest, the_holder_of_a_source_is_told) {
  EXPECT_EQ(source_holder(session(), "relay:a.test"), std::nullopt);
  Session first(database_.url(), "skua run");
  const SourceLock lock(first, "relay:a.test");
  EXPECT_THAT(source_holder(session(), "relay:a.test").value_or(""), HasSubstr("'skua run'"));
  EXPECT_EQ(source_holder(session(), "relay:b.test"), std::nullopt);
}

TEST_F(AdvisoryLockTest, a_source_is_free_again_when_its_holder_ends) {
  {
    Session first(database_.url(), "first");
    const SourceLock lock(first, "relay:a.test");
  }
  EXPECT_NO_THROW(SourceLock(session(), "relay:a.test"));
  // The session may outlive its lock.
  Session second(database_.url(), "second");
  EXPECT_NO_THROW(SourceLock(second, "relay:a.test", milliseconds(0)));
}

TEST_F(AdvisoryLockTest, a_source_whose_holder_is_dying_is_waited_for) {
  std::optional<Session> dying;
  dying.emplace(database_.url(), "dying");
  const SourceLock lock(*dying, "relay:a.test");
  Session killer(database_.url(), "killer");
  // The lock is asked for while it is held; the holder goes when the other is seen to wait for it.
  std::thread end([&] {
    while (killer.run("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted")
               .int8(0, 0) == 0) {
      std::this_thread::yield();
    }
    killer.run("SELECT pg_terminate_backend(" + std::to_string(dying->backend_pid()) + ")");
  });
  EXPECT_NO_THROW(SourceLock(session(), "relay:a.test", std::chrono::seconds(60)));
  end.join();
}

TEST_F(AdvisoryLockTest, all_sources_can_be_kept_away_while_none_is_held) {
  Session a(database_.url(), "first");
  Session b(database_.url(), "second");
  EXPECT_EQ(any_source_holder(session()), std::nullopt);
  session().begin();
  {
    const SourceLock relay(a, "relay:a.test");
    const SourceLock other(b, "relay:b.test");
    EXPECT_FALSE(keep_sources_away_xact(session()));
    EXPECT_NE(any_source_holder(session()), std::nullopt);
  }
  auto relay = std::make_optional<SourceLock>(a, "relay:a.test");
  EXPECT_FALSE(keep_sources_away_xact(session()));
  EXPECT_THAT(any_source_holder(session()).value_or("nobody"), HasSubstr("'first'"));
  relay.reset();
  EXPECT_TRUE(keep_sources_away_xact(session()));
  b.run("SET lock_timeout = 50");
  EXPECT_THROW(SourceLock(b, "relay:b.test"), ServerError) << "it would wait for the end";
  session().commit();
  EXPECT_NO_THROW(SourceLock(a, "relay:b.test")) << "who did not get both locks has none";
}

}  // namespace
}  // namespace skua::store::advisory_lock_test
