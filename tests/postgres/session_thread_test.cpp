#include "postgres/session_thread.hpp"

#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/postgres.hpp"

namespace skua::postgres::session_thread_test {
namespace {

using std::chrono::milliseconds;
using testing::AllOf;
using testing::HasSubstr;
using testing::Optional;
using testing::StartsWith;

constexpr std::chrono::hours kLong{1};

/// Counts rounds; a test waits for a number of them.
class Rounds {
 public:
  int add() {
    const int number = ++count_;
    count_.notify_all();
    return number;
  }
  void wait_for(int number) const {
    for (int seen = count_; seen < number; seen = count_) count_.wait(seen);
  }
  int count() const { return count_; }

 private:
  std::atomic<int> count_{0};
};

class SessionThreadTest : public test::PostgresTest {
 protected:
  void SetUp() override { SKUA_NEED_POSTGRES(); }

  SessionThread::Options options() {
    return {.session_name = "skua test round",
            .component = "test",
            .failure = "the round failed",
            .retry_pause = milliseconds(1)};
  }

  Rounds rounds_;
  Runtime runtime_{database_.url(), system_clock(), [this](const std::string&) { rounds_.add(); }};
};

TEST_F(SessionThreadTest, repeats_its_round_after_the_pause_that_it_returns) {
  SessionThread thread(runtime_, options(), [&](LazySession& session, const std::stop_token&) {
    session.get().run("SELECT 1");
    return rounds_.add() < 3 ? milliseconds(0) : milliseconds(kLong);
  });
  thread.start();
  rounds_.wait_for(3);
  thread.stop();
  EXPECT_EQ(rounds_.count(), 3);
  EXPECT_EQ(runtime_.fatal_error(), std::nullopt);
}

TEST_F(SessionThreadTest, a_notification_ends_the_pause_even_if_it_comes_during_a_round) {
  std::unique_ptr<SessionThread> thread;
  thread = std::make_unique<SessionThread>(runtime_, options(),
                                           [&](LazySession& /*session*/, const std::stop_token&) {
                                             if (rounds_.add() == 1) thread->notify();
                                             return kLong;
                                           });
  thread->start();
  rounds_.wait_for(2);
  thread->notify();
  rounds_.wait_for(3);
  thread->stop();
  EXPECT_EQ(rounds_.count(), 3);
}

TEST_F(SessionThreadTest, a_failure_of_the_server_replaces_the_session) {
  std::vector<std::string> sessions;
  SessionThread thread(runtime_, options(), [&](LazySession& session, const std::stop_token&) {
    sessions.emplace_back(session.get().run("SELECT pg_backend_pid()::text").text(0, 0));
    if (sessions.size() == 1) session.get().run("SELECT pg_terminate_backend(pg_backend_pid())");
    rounds_.add();
    return milliseconds(kLong);
  });
  thread.start();
  rounds_.wait_for(1);
  thread.stop();
  ASSERT_EQ(sessions.size(), 2U);
  EXPECT_NE(sessions[0], sessions[1]);
  EXPECT_EQ(runtime_.fatal_error(), std::nullopt);
}

TEST_F(SessionThreadTest, another_exception_ends_it) {
  SessionThread thread(runtime_, options(), [&](LazySession& session, const std::stop_token&) {
    session.get().run("SELECT FROM no_such_table");
    return milliseconds(0);
  });
  thread.start();
  rounds_.wait_for(1);
  thread.stop();
  EXPECT_THAT(runtime_.fatal_error(),
              Optional(AllOf(StartsWith("the round failed: "), HasSubstr("no_such_table"))));
}

TEST_F(SessionThreadTest, a_wrong_statement_is_repeated_if_the_owner_wants_it) {
  SessionThread::Options retrying = options();
  retrying.retries_sql_errors = true;
  SessionThread thread(runtime_, std::move(retrying),
                       [&](LazySession& session, const std::stop_token&) {
                         rounds_.add();
                         session.get().run(rounds_.count() % 2 == 1 ? "SELECT FROM no_such_table"
                                                                    : "SELECT 'a'::int4");
                         return milliseconds(0);
                       });
  thread.start();
  rounds_.wait_for(3);
  thread.stop();
  EXPECT_EQ(runtime_.fatal_error(), std::nullopt);
}

TEST_F(SessionThreadTest, each_new_session_is_prepared) {
  SessionThread::Options prepared = options();
  prepared.prepare = [](Session& session) { session.run("SET lock_timeout = '7s'"); };
  SessionThread thread(runtime_, std::move(prepared),
                       [](LazySession&, const std::stop_token&) { return milliseconds(kLong); });
  const auto timeout = [&] {
    return std::string(thread.session().get().run("SHOW lock_timeout").text(0, 0));
  };
  EXPECT_FALSE(thread.session().is_connected());
  EXPECT_EQ(timeout(), "7s");
  thread.session().reset();
  EXPECT_EQ(timeout(), "7s");
}

TEST_F(SessionThreadTest, a_session_that_cannot_be_prepared_is_not_used) {
  LazySession session(database_.url(), "skua test",
                      [](Session&) { throw std::runtime_error("not now"); });
  EXPECT_THROW(session.get(), std::runtime_error);
  EXPECT_FALSE(session.is_connected());
}

TEST_F(SessionThreadTest, a_stop_does_not_wait_for_the_pause) {
  SessionThread thread(runtime_, options(), [&](LazySession&, const std::stop_token&) {
    rounds_.add();
    return milliseconds(kLong);
  });
  thread.start();
  rounds_.wait_for(1);
  thread.stop();
  thread.stop();
  EXPECT_EQ(rounds_.count(), 1);
}

}  // namespace
}  // namespace skua::postgres::session_thread_test
