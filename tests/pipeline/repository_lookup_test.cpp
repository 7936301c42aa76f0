#include "pipeline/repository_lookup.hpp"

#include <chrono>
#include <condition_variable>
#include <future>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "accounts/fake_accounts.hpp"
#include "support/manual_clock.hpp"
#include "support/postgres.hpp"

namespace skua::pipeline::repository_lookup_test {
namespace {

using namespace std::chrono_literals;
using documents::errc;

const std::string kAlice = "did:plc:alice";
const std::string kBob = "did:plc:bob";

atproto::RepositoryHead head(std::uint64_t rev) {
  return {{rev}, atproto::Cid::of(as_bytes("tree " + std::to_string(rev)))};
}

/// What came of lookups.
class Answers {
 public:
  RepositoryLookup::Done taker() {
    return [this](FoundRepository found) {
      const std::scoped_lock lock(mutex_);
      found_.push_back(std::move(found));
      changed_.notify_all();
    };
  }
  /// The first so many; a test fails when they do not come within a minute.
  std::vector<FoundRepository> first(std::size_t count) {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(changed_.wait_for(lock, 1min, [&] { return found_.size() >= count; }));
    return found_;
  }
  std::size_t size() {
    const std::scoped_lock lock(mutex_);
    return found_.size();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<FoundRepository> found_;
};

class RepositoryLookupTest : public testing::Test {
 protected:
  postgres::Runtime runtime_{"no database", system_clock(),
                             [](const std::string& what) { ADD_FAILURE() << what; }};
  test::FakeAccounts accounts_;
  Answers answers_;
};

TEST_F(RepositoryLookupTest, without_a_database_all_repositories_are_new) {
  accounts_.knows(kAlice, documents::Account{.handle = "alice.example"});
  RepositoryLookup lookup(runtime_, accounts_, nullptr);
  lookup.find(kAlice, answers_.taker());
  const auto found = answers_.first(1);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].row.did, kAlice);
  EXPECT_EQ(found[0].row.head, std::nullopt);
  EXPECT_TRUE(found[0].row.active);
  ASSERT_TRUE(found[0].account);
  EXPECT_EQ(found[0].account->handle, "alice.example");
  EXPECT_EQ(accounts_.asked("known " + kAlice), 1U);
}

TEST_F(RepositoryLookupTest, one_that_is_answered_later_does_not_keep_others_waiting) {
  accounts_.knows(kAlice, documents::Account{});
  accounts_.knows(kBob, documents::Account{});
  accounts_.hold(kAlice);
  RepositoryLookup lookup(runtime_, accounts_, nullptr);
  lookup.find(kAlice, answers_.taker());
  ASSERT_TRUE(accounts_.wait_until_asked("known " + kAlice));
  lookup.find(kBob, answers_.taker());
  EXPECT_EQ(answers_.first(1).front().row.did, kBob);
  EXPECT_EQ(answers_.size(), 1U);
  ASSERT_TRUE(accounts_.answer(kAlice));
  EXPECT_EQ(answers_.first(2).back().row.did, kAlice);
}

TEST_F(RepositoryLookupTest, what_is_wrong_with_the_data_is_said_at_once) {
  for (const errc error : {errc::did_not_found, errc::did_tombstoned, errc::document_without_key}) {
    accounts_.knows(kAlice, error);
    Answers answers;
    RepositoryLookup lookup(runtime_, accounts_, nullptr);
    lookup.find(kAlice, answers.taker());
    EXPECT_EQ(answers.first(1).front().account.error(), error);
  }
  EXPECT_EQ(accounts_.asked("known " + kAlice), 3U);
}

TEST_F(RepositoryLookupTest, answers_that_come_after_its_end_are_harmless) {
  accounts_.knows(kAlice, documents::Account{});
  accounts_.knows(kBob, errc::did_not_found);
  accounts_.hold(kAlice);
  accounts_.hold(kBob);
  {
    RepositoryLookup lookup(runtime_, accounts_, nullptr);
    lookup.find(kAlice, answers_.taker());
    lookup.find(kBob, answers_.taker());
    ASSERT_TRUE(accounts_.wait_until_asked("known " + kAlice));
    ASSERT_TRUE(accounts_.wait_until_asked("known " + kBob));
  }
  EXPECT_TRUE(accounts_.answer(kAlice));
  EXPECT_TRUE(accounts_.answer(kBob));
  EXPECT_LE(answers_.size(), 2U);
}

TEST_F(RepositoryLookupTest, finds_many_for_many_threads) {
  constexpr int kThreads = 3;
  constexpr int kEach = 300;
  for (int i = 0; i < kThreads * kEach; ++i) {
    accounts_.knows("did:plc:" + std::to_string(i),
                    i % 7 == 0 ? test::FakeAccounts::Identity(errc::did_not_found)
                               : documents::Account{.handle = std::to_string(i)});
  }
  RepositoryLookup lookup(runtime_, accounts_, nullptr);
  {
    std::vector<std::jthread> threads;
    threads.reserve(kThreads);
    for (int thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&, thread] {
        for (int i = 0; i < kEach; ++i) {
          lookup.find("did:plc:" + std::to_string(i * kThreads + thread), answers_.taker());
        }
      });
    }
  }
  std::map<std::string, int> times;
  for (const auto& found : answers_.first(kThreads * kEach)) {
    ++times[found.row.did];
    if (found.account) {
      EXPECT_EQ("did:plc:" + found.account->handle, found.row.did);
    }
  }
  EXPECT_EQ(times.size(), std::size_t{kThreads * kEach});
}

/// With a database.
class StoredRepositories : public test::PostgresTest {
 protected:
  void SetUp() override {
    SKUA_NEED_POSTGRES();
    for (const std::string& did : {kAlice, kBob}) accounts_.knows(did, documents::Account{});
  }

  void store(const std::string& did, std::uint64_t rev, bool active = true) {
    tables::save_repositories(session(),
                              std::vector{tables::RepositoryProgress{{did, head(rev), active}}},
                              tables::Resync::Complete, clock_.now());
  }
  tables::RepositoryRow find(RepositoryLookup& lookup, const std::string& did) {
    Answers answers;
    lookup.find(did, answers.taker());
    return answers.first(1).front().row;
  }

  test::ManualClock clock_;
  postgres::Runtime runtime_{database_.url(), clock_,
                             [](const std::string& what) { ADD_FAILURE() << what; }};
  test::FakeAccounts accounts_;
  PendingHeads heads_;
};

TEST_F(StoredRepositories, are_found) {
  store(kAlice, 5, false);
  RepositoryLookup lookup(runtime_, accounts_, &heads_, 1ms);
  EXPECT_EQ(find(lookup, kAlice).head, head(5));
  EXPECT_FALSE(find(lookup, kAlice).active);
  EXPECT_EQ(find(lookup, kBob).head, std::nullopt);
  EXPECT_TRUE(find(lookup, kBob).active);
}

TEST_F(StoredRepositories, are_overruled_by_what_is_yet_to_be_stored) {
  store(kAlice, 5, false);
  heads_.add(9, {kAlice, head(6), true}, verify::Continuity::Next);
  RepositoryLookup lookup(runtime_, accounts_, &heads_, 1ms);
  EXPECT_EQ(find(lookup, kAlice).head, head(6));
  EXPECT_TRUE(find(lookup, kAlice).active);
  store(kAlice, 6);
  heads_.collect(10);
  heads_.stored();
  EXPECT_EQ(find(lookup, kAlice).head, head(6));
}

TEST_F(StoredRepositories, are_found_again_after_the_connection_broke) {
  store(kAlice, 5);
  RepositoryLookup lookup(runtime_, accounts_, &heads_, 1ms);
  EXPECT_EQ(find(lookup, kAlice).head, head(5));
  EXPECT_EQ(value("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
                  "WHERE application_name = 'skua repositories' AND datname = current_database()"),
            "1");
  store(kAlice, 6);
  EXPECT_EQ(find(lookup, kAlice).head, head(6));
}

TEST_F(StoredRepositories, that_cannot_be_read_are_a_fatal_error) {
  session().run("ALTER TABLE skua.repositories RENAME TO renamed");
  std::promise<std::string> error;
  postgres::Runtime runtime(database_.url(), clock_,
                            [&](const std::string& what) { error.set_value(what); });
  Answers answers;
  RepositoryLookup lookup(runtime, accounts_, &heads_);
  lookup.find(kAlice, answers.taker());
  EXPECT_NE(error.get_future().get().find("skua.repositories"), std::string::npos);
  lookup.stop();
  EXPECT_EQ(answers.size(), 0U);
}

TEST_F(StoredRepositories, are_waited_for_and_the_end_comes_all_the_same) {
  Answers answers;
  postgres::Runtime away("postgresql://127.0.0.1:1/nowhere", clock_);
  RepositoryLookup lookup(away, accounts_, &heads_, std::chrono::hours(1));
  lookup.find(kAlice, answers.taker());
  lookup.stop();
  EXPECT_EQ(answers.size(), 0U);
  EXPECT_EQ(accounts_.asked("known " + kAlice), 0U) << "it would be taken for a new one";
}

}  // namespace
}  // namespace skua::pipeline::repository_lookup_test
