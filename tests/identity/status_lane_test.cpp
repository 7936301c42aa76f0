#include "identity/status_lane.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "identity/errc.hpp"

namespace skua::identity::status_lane_test {
namespace {

using namespace std::chrono_literals;

std::string plc(int number) {
  return "did:plc:account" + std::to_string(number);
}
std::string web(int number) {
  return "did:web:host" + std::to_string(number) + ".example";
}

/// Requests that are answered when the test says so.
class Network {
 public:
  StatusLane::Requests requests() {
    return {
        .find_pds =
            [this](const std::string& did, StatusLane::PdsDone done) {
              add("document " + did, [this, did, done = std::move(done)] { done(pds_of(did)); });
            },
        .ask_pds =
            [this](const std::string& pds, const std::string& did, StatusLane::StatusDone done) {
              add("status " + did + " of " + pds, [done = std::move(done)] {
                done(HostStatus{false, "deactivated"});
              });
            }};
  }
  /// What its document says; of others: https://pds.example.
  void lives_on(const std::string& did, Result<std::string> pds) {
    const std::scoped_lock lock(mutex_);
    pds_.insert_or_assign(did, std::move(pds));
  }
  /// From now on requests are answered at once.
  void answer_at_once() {
    const std::scoped_lock lock(mutex_);
    at_once_ = true;
  }
  /// Requests without an answer that begin so.
  std::size_t open(const std::string& words) const {
    const std::scoped_lock lock(mutex_);
    return static_cast<std::size_t>(std::count_if(
        open_.begin(), open_.end(), [&](const auto& one) { return one.first.starts_with(words); }));
  }
  /// Answers the oldest that begins so. False: there is none.
  bool answer(const std::string& words) {
    std::function<void()> request;
    {
      const std::scoped_lock lock(mutex_);
      const auto place = std::find_if(open_.begin(), open_.end(), [&](const auto& one) {
        return one.first.starts_with(words);
      });
      if (place == open_.end()) return false;
      request = std::move(place->second);
      open_.erase(place);
    }
    request();
    return true;
  }

 private:
  Result<std::string> pds_of(const std::string& did) const {
    const std::scoped_lock lock(mutex_);
    const auto place = pds_.find(did);
    return place != pds_.end() ? place->second : Result<std::string>("https://pds.example");
  }
  void add(std::string words, std::function<void()> answer) {
    {
      const std::scoped_lock lock(mutex_);
      if (!at_once_) {
        open_.emplace_back(std::move(words), std::move(answer));
        return;
      }
    }
    answer();
  }

  mutable std::mutex mutex_;
  std::map<std::string, Result<std::string>> pds_;
  std::vector<std::pair<std::string, std::function<void()>>> open_;
  bool at_once_ = false;
};

/// What came of questions.
class Answers {
 public:
  StatusLane::StatusDone taker() {
    return [this](Result<HostStatus> status) {
      const std::scoped_lock lock(mutex_);
      all_.push_back(std::move(status));
      changed_.notify_all();
    };
  }
  bool wait_for(std::size_t count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, 1min, [&] { return all_.size() >= count; });
  }
  std::size_t size() const {
    const std::scoped_lock lock(mutex_);
    return all_.size();
  }
  /// Those with this error; without: those that are none.
  std::size_t count(ErrorCode error = {}) const {
    const std::scoped_lock lock(mutex_);
    return static_cast<std::size_t>(std::count_if(all_.begin(), all_.end(), [&](const auto& one) {
      return (one.has_error() ? one.error() : ErrorCode()) == error;
    }));
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Result<HostStatus>> all_;
};

class StatusLaneTest : public testing::Test {
 protected:
  /// A slow machine must not give up what a test does not mean to.
  StatusLaneTest() { limits_.patience = 10min; }

  StatusLaneLimits limits_;
  Network network_;
  Answers answers_;
};

TEST_F(StatusLaneTest, a_document_is_found_and_then_its_host_is_asked) {
  network_.lives_on(plc(1), "https://home.example");
  StatusLane lane(network_.requests(), limits_);
  lane.ask(plc(1), answers_.taker());
  EXPECT_EQ(network_.open("status"), 0U);
  ASSERT_TRUE(network_.answer("document " + plc(1)));
  ASSERT_TRUE(network_.answer("status " + plc(1) + " of https://home.example"));
  EXPECT_EQ(answers_.count(), 1U);
}

TEST_F(StatusLaneTest, who_has_no_document_is_asked_for_nothing_more) {
  network_.lives_on(plc(1), errc::did_not_found);
  StatusLane lane(network_.requests(), limits_);
  lane.ask(plc(1), answers_.taker());
  ASSERT_TRUE(network_.answer("document"));
  EXPECT_EQ(answers_.count(errc::did_not_found), 1U);
  EXPECT_EQ(network_.open(""), 0U);
}

TEST_F(StatusLaneTest, directory_and_hosts_have_places_of_their_own) {
  StatusLane lane(network_.requests(), limits_);
  for (int i = 0; i < 100; ++i) {
    network_.lives_on(plc(i), "https://pds" + std::to_string(i) + ".example");
    lane.ask(plc(i), answers_.taker());
    lane.ask(web(i), answers_.taker());
  }
  EXPECT_EQ(network_.open("document did:plc:"), 16U);
  EXPECT_EQ(network_.open("document did:web:"), 64U);
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(network_.answer("document did:plc:"));
  EXPECT_EQ(network_.open("status"), 100U) << "each on a host of its own";
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(network_.answer("document did:web:"));
  EXPECT_EQ(network_.open("status did:web:"), 2U) << "all on one host";
  for (int i = 0; i < 200; ++i) ASSERT_TRUE(network_.answer("status"));
  EXPECT_EQ(answers_.count(), 200U);
}

TEST_F(StatusLaneTest, a_silent_host_holds_up_its_own_accounts_only) {
  StatusLane lane(network_.requests(), limits_);
  for (int i = 0; i < 200; ++i) {
    network_.lives_on(plc(i), "https://silent.example:" + std::to_string(1'000 + i));
    lane.ask(plc(i), answers_.taker());
  }
  while (network_.answer("document")) {
  }
  EXPECT_EQ(network_.open("status"), 2U) << "ports do not make hosts";
  lane.ask(web(1), answers_.taker());
  ASSERT_TRUE(network_.answer("document " + web(1)));
  ASSERT_TRUE(network_.answer("status " + web(1)));
  EXPECT_EQ(answers_.count(), 1U);
}

TEST_F(StatusLaneTest, no_more_hosts_than_so_many_are_asked_at_once) {
  StatusLane lane(network_.requests(), limits_);
  for (int i = 0; i < 200; ++i) {
    network_.lives_on(plc(i), "https://pds" + std::to_string(i) + ".example");
    lane.ask(plc(i), answers_.taker());
  }
  while (network_.answer("document")) {
  }
  EXPECT_EQ(network_.open("status"), 128U);
  EXPECT_EQ(lane.waiting(), 72U);
}

TEST_F(StatusLaneTest, what_waits_too_long_is_given_up_as_busy) {
  limits_.patience = 1ms;
  StatusLane lane(network_.requests(), limits_);
  for (int i = 0; i < 5; ++i) lane.ask(web(1), answers_.taker());
  ASSERT_TRUE(answers_.wait_for(3));
  EXPECT_EQ(answers_.count(errc::busy), 3U);
  // Those that were asked are still waited for.
  ASSERT_TRUE(network_.answer("document"));
  ASSERT_TRUE(network_.answer("status"));
  EXPECT_EQ(answers_.count(), 1U);
}

TEST_F(StatusLaneTest, more_than_so_many_may_not_wait) {
  StatusLane lane(network_.requests(), limits_);
  for (int i = 0; i < 1'002; ++i) lane.ask(web(1), answers_.taker());
  EXPECT_EQ(answers_.size(), 0U);
  EXPECT_EQ(lane.waiting(), 1'000U);
  lane.ask(web(2), answers_.taker());
  EXPECT_EQ(answers_.count(errc::busy), 1U);
}

TEST_F(StatusLaneTest, answers_at_once_do_not_pile_up) {
  limits_.waiting = 200'000;
  limits_.of_one_host = 1;
  StatusLane lane(network_.requests(), limits_);
  constexpr std::size_t kMany = 100'000;
  for (std::size_t i = 0; i < kMany; ++i) lane.ask(web(1), answers_.taker());
  network_.answer_at_once();
  ASSERT_TRUE(network_.answer("document"));
  EXPECT_EQ(answers_.count(), kMany);
}

TEST_F(StatusLaneTest, all_are_answered_at_the_end) {
  {
    StatusLane lane(network_.requests(), limits_);
    for (int i = 0; i < 5; ++i) lane.ask(web(1), answers_.taker());
    lane.stop();
    EXPECT_EQ(answers_.count(errc::stopped), 3U);
    lane.ask(web(1), answers_.taker());
    EXPECT_EQ(answers_.count(errc::stopped), 4U);
    ASSERT_TRUE(network_.answer("document"));
    EXPECT_EQ(answers_.count(errc::stopped), 5U);
  }
  ASSERT_TRUE(network_.answer("document")) << "too late, and harmless";
  EXPECT_EQ(answers_.count(errc::stopped), 6U);
}

}  // namespace
}  // namespace skua::identity::status_lane_test
