#include <random>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "postgres/locks.hpp"
#include "postgres/migrations.hpp"
#include "support/postgres.hpp"

namespace skua::postgres::advisory_lock_test {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

std::vector<Lock> locks_of(std::vector<std::int64_t> keys) {
  std::vector<Lock> locks;
  for (const std::int64_t key : keys) locks.push_back({key, "one"});
  return locks;
}

class AdvisoryLockTest : public test::PostgresTest {
 protected:
  void SetUp() override { SKUA_NEED_POSTGRES(); }
};

TEST_F(AdvisoryLockTest, try_tells_which_are_busy) {
  Session other(database_.url(), "other");
  other.begin();
  EXPECT_EQ(try_lock_xact(other, locks_of({2, 4})), (std::vector{true, true}));
  session().begin();
  EXPECT_EQ(try_lock_xact(session(), locks_of({1, 2, 3, 4})),
            (std::vector{true, false, true, false}));
  other.commit();
  EXPECT_EQ(try_lock_xact(session(), locks_of({2})), std::vector{true});
  session().commit();
  EXPECT_TRUE(try_lock_xact(session(), {}).empty());
}

TEST_F(AdvisoryLockTest, locks_are_taken_in_ascending_order_whatever_the_order_they_come_in) {
  session().begin();
  lock_xact(session(), locks_of({2}));
  Session waiter(database_.url(), "waiter");
  const std::string pid = std::to_string(waiter.backend_pid());
  std::thread wait([&] {
    waiter.begin();
    lock_xact(waiter, locks_of({3, 2, -1, 1, 2, -1}));
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
        EXPECT_NO_THROW(lock_xact(session, locks_of(keys)));
        session.commit();
      }
    });
  }
  for (auto& thread : threads) thread.join();
}

TEST_F(AdvisoryLockTest, a_wait_has_an_end_and_names_the_owner) {
  Session other(database_.url(), "skua other");
  other.begin();
  const Lock one = account_lock(session(), 2, "did:plc:one");
  const Lock two = account_lock(session(), 2, "did:plc:two");
  lock_xact(other, {one});
  session().limit_lock_waits(milliseconds(50));
  session().begin();
  try {
    lock_xact(session(), {one, two});
    FAIL() << "two have the lock";
  } catch (const ServerError& error) {
    EXPECT_EQ(error.sqlstate(), "55P03");
    EXPECT_THAT(error.what(), HasSubstr("did:plc:one is locked by 'skua other' (server process " +
                                        std::to_string(other.backend_pid())));
  }
  EXPECT_FALSE(session().in_transaction());
  other.commit();
  other.begin();
  EXPECT_EQ(try_lock_xact(other, std::vector{two}), std::vector{true}) << "it holds on to nothing";
}

TEST_F(AdvisoryLockTest, a_lock_that_is_tried_is_free_again_after_its_object) {
  constexpr NamedLockKey kKey{1, 2};
  Session other(database_.url(), "other");
  {
    const TriedLock first(session(), kKey);
    EXPECT_TRUE(first.is_taken());
    const TriedLock second(other, kKey);
    EXPECT_FALSE(second.is_taken());
  }
  {
    const TriedLock again(other, kKey);
    EXPECT_TRUE(again.is_taken());
    const Transaction transaction(other);
    EXPECT_THROW(other.run("SELECT 1 / 0"), SqlError);
  }
  EXPECT_TRUE(TriedLock(session(), kKey).is_taken()) << "after a transaction that failed";
  EXPECT_EQ(value("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND database = "
                  "(SELECT oid FROM pg_database WHERE datname = current_database())"),
            "0");
}

TEST_F(AdvisoryLockTest, every_session_waits_for_a_limited_time) {
  EXPECT_EQ(value("SHOW lock_timeout"), "10s");
}

TEST_F(AdvisoryLockTest, a_name_has_another_number_in_another_database) {
  test::Database another(test::Database::Content::empty);
  Session there(another.url(), "test");
  migrate(there, schema());
  EXPECT_NE(account_lock(session(), 1, "did:plc:one").key,
            account_lock(there, 1, "did:plc:one").key);
  Session here(database_.url(), "test");
  EXPECT_EQ(account_lock(session(), 1, "did:plc:one").key,
            account_lock(here, 1, "did:plc:one").key);
}

TEST_F(AdvisoryLockTest, kinds_are_told_by_the_highest_bits) {
  for (int i = 0; i < 100; ++i) {
    const std::string name = "name" + std::to_string(i);
    for (std::uint8_t type = 0; type < 5; ++type) {
      const auto key = static_cast<std::uint64_t>(account_lock(session(), type, name).key);
      EXPECT_EQ(key >> 61U, type);
    }
    EXPECT_EQ(static_cast<std::uint64_t>(handle_lock(session(), name).key) >> 61U, 5U);
  }
}

TEST_F(AdvisoryLockTest, a_superuser_can_keep_readers_from_taking_locks) {
  if (value("SHOW is_superuser") != "on") GTEST_SKIP() << "needs a superuser";
  session().run("SELECT skua.restrict_advisory_locks()");
  for (const std::string lock :
       {"pg_advisory_lock(1)", "pg_advisory_lock(1936422145, 1)", "pg_advisory_xact_lock_shared(1)",
        "pg_try_advisory_lock(1)", "pg_try_advisory_xact_lock_shared(1, 2)"}) {
    session().run("SET ROLE skua_reader");
    EXPECT_THROW(session().run("SELECT " + lock), SqlError) << lock;
    session().run("SET ROLE skua_writer");
    EXPECT_NO_THROW(session().run("SELECT " + lock)) << lock;
    session().run("RESET ROLE");
  }
}

TEST_F(AdvisoryLockTest, readers_do_not_see_the_secret) {
  session().run("SET ROLE skua_reader");
  EXPECT_THROW(session().run("SELECT secret FROM skua.lock_secret"), DefectError);
  session().run("RESET ROLE");
}

}  // namespace
}  // namespace skua::postgres::advisory_lock_test
