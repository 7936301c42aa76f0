#include "accounts/handle_verifier.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <spdlog/sinks/base_sink.h>

#include "base/log.hpp"
#include "documents/errc.hpp"
#include "support/manual_clock.hpp"
#include "support/postgres.hpp"
#include "transport/errc.hpp"

namespace skua::accounts::handle_verifier_test {
namespace {

using namespace std::chrono_literals;
using documents::errc;
using Names = std::vector<std::string>;

const std::string kAlice = "did:plc:alice";
const std::string kBob = "did:plc:bob";

/// Look-ups that find what a test tells them, at once or when it lets them, and remember what they
/// were asked. Any thread.
class FakeLookups {
 public:
  HandleVerifier::Check check() {
    return
        [this](const std::string& did, const std::string& handle) { return look_up(did, handle); };
  }
  /// Found from now on; of others: that the handle leads to them.
  void find(const std::string& did, const Result<void>& found) {
    const std::scoped_lock lock(mutex_);
    found_.insert_or_assign(did, found);
  }
  /// Look-ups that begin from now on do not end before `release`.
  void hold() { set_held(true); }
  void release() { set_held(false); }

  /// The accounts of all look-ups so far, in their order.
  Names asked() {
    const std::scoped_lock lock(mutex_);
    return asked_;
  }
  bool wait_until_asked(std::size_t times) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, 1min, [&] { return asked_.size() >= times; });
  }
  std::size_t most_at_once() {
    const std::scoped_lock lock(mutex_);
    return most_at_once_;
  }
  bool was_asked_for_one_twice_at_once() {
    const std::scoped_lock lock(mutex_);
    return twice_at_once_;
  }
  Names handles() {
    const std::scoped_lock lock(mutex_);
    return handles_;
  }

 private:
  Result<void> look_up(const std::string& did, const std::string& handle) {
    std::unique_lock lock(mutex_);
    asked_.push_back(did);
    handles_.push_back(handle);
    if (under_way_.contains(did)) twice_at_once_ = true;
    const auto place = under_way_.insert(did);
    most_at_once_ = std::max(most_at_once_, under_way_.size());
    changed_.notify_all();
    changed_.wait(lock, [&] { return !held_; });
    under_way_.erase(place);
    const auto found = found_.find(did);
    return found == found_.end() ? Result<void>() : found->second;
  }
  void set_held(bool held) {
    const std::scoped_lock lock(mutex_);
    held_ = held;
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, Result<void>> found_;
  std::multiset<std::string> under_way_;
  Names asked_;
  Names handles_;
  std::size_t most_at_once_ = 0;
  bool twice_at_once_ = false;
  bool held_ = false;
};

/// A manual clock that knows how often it was asked: the verifier asks once a round.
class RoundsClock final : public Clock {
 public:
  Timestamp now() const override {
    const std::scoped_lock lock(mutex_);
    ++asked_;
    changed_.notify_all();
    return clock_.now();
  }
  /// Does not count.
  Timestamp time() const { return clock_.now(); }
  void advance(std::chrono::microseconds by) { clock_.advance(by); }
  /// Returns when a round that began after this call has ended. False: none did within a minute.
  bool wait_for_a_round() {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, 1min, [&, wanted = asked_ + 2] { return asked_ >= wanted; });
  }

 private:
  test::ManualClock clock_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  mutable std::uint64_t asked_ = 0;
};

/// Counts the failed attempts of the verifier to use the database while it lives, by what it logs.
/// Made before a verifier, and destroyed after it.
class Failures {
 public:
  Failures() {
    logger("identity")->sinks().push_back(sink_);
    logger("identity")->set_level(spdlog::level::debug);
  }
  ~Failures() {
    logger("identity")->set_level(level_);
    std::erase(logger("identity")->sinks(), sink_);
  }
  Failures(const Failures&) = delete;
  Failures& operator=(const Failures&) = delete;

  bool wait_for(std::size_t more) { return sink_->wait_for(more); }

 private:
  class Sink final : public spdlog::sinks::base_sink<std::mutex> {
   public:
    bool wait_for(std::size_t more) {
      std::unique_lock lock(changed_mutex_);
      return changed_.wait_for(lock, 1min,
                               [&, wanted = count_ + more] { return count_ >= wanted; });
    }

   protected:
    void sink_it_(const spdlog::details::log_msg& message) override {
      const std::string_view text(message.payload.data(), message.payload.size());
      if (!text.starts_with("handles cannot be checked")) return;
      const std::scoped_lock lock(changed_mutex_);
      ++count_;
      changed_.notify_all();
    }
    void flush_() override {}

   private:
    std::mutex changed_mutex_;
    std::condition_variable changed_;
    std::size_t count_ = 0;
  };

  const std::shared_ptr<Sink> sink_ = std::make_shared<Sink>();
  const spdlog::level::level_enum level_ = logger("identity")->level();
};

class HandleVerifierTest : public test::PostgresTest {
 protected:
  void SetUp() override { SKUA_NEED_POSTGRES(); }
  void TearDown() override { lookups_.release(); }

  HandleVerifier::Options options(std::size_t at_once = 4) {
    return {.at_once = at_once, .per_second = 1'000, .pause = 1ms};
  }
  void open(HandleVerifier::Options options) {
    verifier_ = std::make_unique<HandleVerifier>(runtime_, lookups_.check(), options);
  }
  /// Its fatal errors are expected.
  std::future<std::string> open_broken() {
    broken_.emplace(database_.url(), clock_,
                    [this](const std::string& what) { error_.set_value(what); });
    verifier_ = std::make_unique<HandleVerifier>(*broken_, lookups_.check(), options());
    return error_.get_future();
  }
  /// An account claims a handle, of its name unless it is said.
  void claim(const std::string& did, const std::string& handle = "") {
    clock_.advance(1ms);
    const std::string id =
        value(fmt::format("INSERT INTO bsky.actors (did, indexed_at) VALUES ('{}', now()) "
                          "ON CONFLICT (did) DO UPDATE SET did = excluded.did RETURNING id",
                          did));
    const std::string name = handle.empty() ? did.substr(8) + ".example" : handle;
    const writer::HandleClaim claim{std::stoll(id), name, clock_.time()};
    postgres::Transaction transaction(session());
    writer::Effects effects;
    writer::write_handle_claims(session(), std::vector{claim}, clock_.time(), effects);
    effects.finish(session());
    transaction.commit();
  }
  Names claim_many(int count) {
    Names dids;
    for (int i = 0; i < count; ++i) {
      dids.push_back("did:plc:" + std::to_string(i));
      claim(dids.back());
    }
    return dids;
  }
  std::string state(const std::string& did) {
    return value(
        "SELECT concat_ws(' ', coalesce(handle, 'none'), CASE WHEN handle_valid THEN "
        "'right' WHEN NOT handle_valid THEN 'wrong' ELSE 'unchecked' END, "
        "CASE WHEN handle_check_due IS NOT NULL THEN 'due' END) "
        "FROM bsky.actors WHERE did = '" +
        did + "'");
  }
  /// False: it did not become so within a minute.
  bool wait_until(const std::function<bool()>& is_so) {
    const auto deadline = std::chrono::steady_clock::now() + 1min;
    while (!is_so()) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      std::this_thread::yield();
    }
    return true;
  }
  void expect_state(const std::string& did, const std::string& wanted) {
    wait_until([&] { return state(did) == wanted; });
    EXPECT_EQ(state(did), wanted) << did;
  }
  std::string count_of(const std::string& condition) {
    return value("SELECT count(*) FROM bsky.actors WHERE " + condition);
  }

  // Executes a statement in another database, because this one may refuse connections.
  void outside(const std::string& sql) {
    postgres::Session(test::postgres_url().value(), "outside").run(sql);
  }
  /// The database refuses new connections, and the session of the verifier ends.
  void take_database_away() {
    outside(fmt::format("ALTER DATABASE {} ALLOW_CONNECTIONS false", database_.name()));
    outside(
        fmt::format("SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity "
                    "WHERE datname = '{}' AND application_name = 'skua handles'",
                    database_.name()));
  }
  void bring_database_back() {
    outside(fmt::format("ALTER DATABASE {} ALLOW_CONNECTIONS true", database_.name()));
  }
  bool verifier_is_connected() {
    return !session()
                .run(
                    "SELECT FROM pg_stat_activity WHERE datname = current_database() "
                    "AND application_name = 'skua handles'")
                .empty();
  }

  /// Lets look-ups end once the verifier is about to.
  void stop_while_held() {
    const std::jthread stopping([&] { verifier_->stop(); });
    EXPECT_TRUE(wait_until([&] { return !verifier_is_connected(); }));
    lookups_.release();
  }

  RoundsClock clock_;
  FakeLookups lookups_;
  Failures failures_;
  postgres::Runtime runtime_{database_.url(), clock_,
                             [](const std::string& what) { ADD_FAILURE() << what; }};
  std::promise<std::string> error_;
  std::optional<postgres::Runtime> broken_;
  std::unique_ptr<HandleVerifier> verifier_;
};

TEST_F(HandleVerifierTest, looks_up_what_is_due_and_writes_what_it_finds) {
  claim(kAlice, "right.example");
  claim(kBob, "wrong.example");
  lookups_.find(kBob, errc::handle_of_other);
  open(options());
  expect_state(kAlice, "right.example right");
  expect_state(kBob, "none wrong");
  claim(kAlice, "newer.example");
  expect_state(kAlice, "newer.example right");
  EXPECT_EQ(lookups_.asked().size(), 3U);
  EXPECT_EQ(lookups_.handles().back(), "newer.example");
  EXPECT_EQ(verifier_->counters().valid, 2U);
  EXPECT_EQ(verifier_->counters().invalid, 1U);
  EXPECT_EQ(verifier_->counters().failed, 0U);
}

TEST_F(HandleVerifierTest, what_is_wrong_with_the_data_is_found_and_what_fails_is_not) {
  const std::map<errc, bool> is_failure = {
      {errc::handle_syntax, false},    {errc::handle_not_found, false},
      {errc::handle_ambiguous, false}, {errc::handle_of_other, false},
      {errc::server_failed, true},     {errc::rate_limited, true},
      {errc::dns_failed, true},        {errc::stopped, true}};
  std::size_t number = 0;
  for (const auto& [error, is_server] : is_failure) {
    const std::string did = "did:plc:" + std::to_string(number++);
    lookups_.find(did, error);
    claim(did);
  }
  open(options());
  EXPECT_TRUE(wait_until([&] { return count_of("handle_valid IS FALSE") == "4"; }));
  EXPECT_TRUE(wait_until([&] { return verifier_->counters().failed == 4U; }));
  EXPECT_EQ(verifier_->counters().invalid, 4U);
  EXPECT_EQ(count_of("handle IS NOT NULL AND handle_check_due IS NOT NULL"), "4");
}

TEST_F(HandleVerifierTest, looks_up_no_more_at_once_than_allowed) {
  claim_many(12);
  lookups_.hold();
  open(options(3));
  ASSERT_TRUE(lookups_.wait_until_asked(3));
  EXPECT_TRUE(clock_.wait_for_a_round());
  EXPECT_EQ(lookups_.asked().size(), 3U);
  lookups_.release();
  EXPECT_TRUE(wait_until([&] { return count_of("handle_valid") == "12"; }));
  EXPECT_EQ(lookups_.most_at_once(), 3U);
  EXPECT_EQ(lookups_.asked().size(), 12U);
}

TEST_F(HandleVerifierTest, looks_up_all_there_are_the_oldest_first) {
  const Names dids = claim_many(40);  // more than it takes at once
  open(options(1));
  EXPECT_TRUE(wait_until([&] { return count_of("handle_valid") == "40"; }));
  EXPECT_EQ(lookups_.asked(), dids);
}

TEST_F(HandleVerifierTest, does_not_look_up_an_account_twice_at_once) {
  claim(kAlice, "x.example");
  lookups_.hold();
  open(options());
  ASSERT_TRUE(lookups_.wait_until_asked(1));
  claim(kAlice, "y.example");
  claim(kBob);
  ASSERT_TRUE(lookups_.wait_until_asked(2));
  EXPECT_TRUE(clock_.wait_for_a_round());
  EXPECT_EQ(lookups_.asked(), (Names{kAlice, kBob}));
  lookups_.release();
  expect_state(kAlice, "y.example right");
  EXPECT_EQ(lookups_.asked(), (Names{kAlice, kBob, kAlice})) << "what was found was about another";
  EXPECT_FALSE(lookups_.was_asked_for_one_twice_at_once());
}

TEST_F(HandleVerifierTest, looks_up_again_later_where_a_server_failed) {
  claim(kAlice);
  lookups_.find(kAlice, errc::dns_failed);
  open(options());
  EXPECT_TRUE(wait_until(
      [&] { return count_of("handle_check_due > handle_time + interval '59 s'") == "1"; }));
  EXPECT_EQ(verifier_->counters().failed, 1U);
  EXPECT_EQ(state(kAlice), "alice.example unchecked due");
  lookups_.find(kAlice, {});
  EXPECT_TRUE(clock_.wait_for_a_round());
  EXPECT_EQ(lookups_.asked().size(), 1U) << "not yet";
  clock_.advance(1min);
  expect_state(kAlice, "alice.example right");
  EXPECT_EQ(lookups_.asked().size(), 2U);
  EXPECT_EQ(verifier_->counters().valid, 1U);
}

TEST_F(HandleVerifierTest, starts_no_more_a_second_than_allowed) {
  claim_many(10);
  auto slow = options(8);
  slow.per_second = 3;
  open(slow);
  for (const std::size_t asked : {3U, 6U, 9U, 10U}) {
    ASSERT_TRUE(lookups_.wait_until_asked(asked));
    EXPECT_TRUE(wait_until([&] { return count_of("handle_valid") == std::to_string(asked); }));
    EXPECT_TRUE(clock_.wait_for_a_round());
    EXPECT_EQ(lookups_.asked().size(), asked);
    clock_.advance(1s);
  }
}

// --- the database

TEST_F(HandleVerifierTest, waits_for_a_database_that_is_not_there_yet) {
  claim(kAlice);
  take_database_away();
  open(options());
  ASSERT_TRUE(failures_.wait_for(3));
  EXPECT_TRUE(lookups_.asked().empty());
  bring_database_back();
  expect_state(kAlice, "alice.example right");
}

TEST_F(HandleVerifierTest, goes_on_after_the_database_was_away) {
  claim(kAlice);
  lookups_.hold();
  open(options());
  ASSERT_TRUE(lookups_.wait_until_asked(1));
  take_database_away();
  ASSERT_TRUE(failures_.wait_for(1));
  lookups_.release();
  EXPECT_TRUE(wait_until([&] { return verifier_->counters().valid == 1U; }));
  bring_database_back();
  expect_state(kAlice, "alice.example right");
  claim(kBob);
  expect_state(kBob, "bob.example right");
}

TEST_F(HandleVerifierTest, tries_an_absent_database_once_a_pause_though_something_was_found) {
  claim(kAlice);
  lookups_.hold();
  auto slow = options();
  slow.pause = 100ms;
  open(slow);
  ASSERT_TRUE(lookups_.wait_until_asked(1));
  take_database_away();
  lookups_.release();
  ASSERT_TRUE(failures_.wait_for(1));
  EXPECT_TRUE(wait_until([&] { return verifier_->counters().valid == 1U; }));
  const auto start = std::chrono::steady_clock::now();
  ASSERT_TRUE(failures_.wait_for(5));
  EXPECT_GE(std::chrono::steady_clock::now() - start, 4 * slow.pause);
  bring_database_back();
  expect_state(kAlice, "alice.example right");
}

TEST_F(HandleVerifierTest, what_is_due_and_cannot_be_read_is_a_fatal_error) {
  claim(kAlice);
  session().run("ALTER TABLE bsky.actors DROP COLUMN handle_check_due");
  auto error = open_broken();
  EXPECT_NE(error.get().find("handle_check_due"), std::string::npos);
  verifier_->stop();
  EXPECT_TRUE(lookups_.asked().empty());
}

TEST_F(HandleVerifierTest, what_was_found_and_cannot_be_written_is_a_fatal_error) {
  claim(kAlice);
  lookups_.hold();
  auto error = open_broken();
  ASSERT_TRUE(lookups_.wait_until_asked(1));
  session().run("ALTER TABLE bsky.actors DROP COLUMN handle_valid CASCADE");
  lookups_.release();
  EXPECT_NE(error.get().find("handle_valid"), std::string::npos);
  verifier_->stop();
}

// --- the end

TEST_F(HandleVerifierTest, ends_with_the_look_ups_that_are_under_way_and_leaves_the_rest) {
  claim_many(10);
  lookups_.hold();
  open(options(2));
  ASSERT_TRUE(lookups_.wait_until_asked(2));
  EXPECT_TRUE(clock_.wait_for_a_round());  // others wait behind them
  stop_while_held();
  EXPECT_EQ(lookups_.asked().size(), 2U);
  EXPECT_EQ(count_of("handle_check_due IS NOT NULL AND handle_valid IS NULL"), "10");
}

TEST_F(HandleVerifierTest, ends_while_it_waits) {
  auto slow = options();
  slow.pause = 1h;
  open(slow);
  ASSERT_TRUE(wait_until([&] { return verifier_is_connected(); }));
  verifier_->stop();
  verifier_->stop();
  EXPECT_TRUE(lookups_.asked().empty());
}

TEST_F(HandleVerifierTest, leaves_what_is_found_once_it_is_to_stop) {
  claim(kAlice);
  lookups_.find(kAlice, transport::errc::http_stopped);
  lookups_.hold();
  open(options());
  ASSERT_TRUE(lookups_.wait_until_asked(1));
  const std::string due = "SELECT handle_check_due FROM bsky.actors";
  const std::string before = value(due);
  verifier_->request_stop();
  EXPECT_TRUE(wait_until([&] { return !verifier_is_connected(); }));
  lookups_.release();
  verifier_->stop();
  EXPECT_EQ(value(due), before);
}

TEST_F(HandleVerifierTest, what_it_leaves_the_next_one_looks_up) {
  claim(kAlice);
  lookups_.hold();
  open(options());
  ASSERT_TRUE(lookups_.wait_until_asked(1));
  stop_while_held();
  EXPECT_EQ(state(kAlice), "alice.example unchecked due");
  open(options());
  expect_state(kAlice, "alice.example right");
}

}  // namespace
}  // namespace skua::accounts::handle_verifier_test
