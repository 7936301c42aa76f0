#include <chrono>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tap/outbox.hpp"

namespace skua::sim::tap_outbox_test {
namespace {

using std::chrono::milliseconds;
using End = TapOutbox::End;

constexpr milliseconds kRetry{100};

class Outbox : public testing::Test {
 protected:
  void add(const std::string& did, bool live) {
    outbox_.add({did, live, R"("type":"record")"}, now_);
  }
  /// Ids of all that can be sent now.
  std::vector<std::uint64_t> sent() {
    std::vector<std::uint64_t> ids;
    while (outbox_.has_next()) ids.push_back(nlohmann::json::parse(outbox_.next())["id"]);
    return ids;
  }
  void ack(std::uint64_t id) { outbox_.ack(id, now_); }

  TapOutbox::TimePoint now_;
  TapOutbox outbox_{kRetry};
};

using Ids = std::vector<std::uint64_t>;

TEST_F(Outbox, live_events_are_barriers_of_their_account) {
  for (const bool live : {false, false, true, true, false, false, true}) add("did:a", live);
  add("did:b", true);
  EXPECT_EQ(sent(), (Ids{1, 2, 8}));
  ack(2);
  EXPECT_EQ(sent(), Ids{});
  ack(1);
  EXPECT_EQ(sent(), Ids{3});
  ack(3);
  EXPECT_EQ(sent(), Ids{4});
  ack(4);
  EXPECT_EQ(sent(), (Ids{5, 6}));
  ack(6);
  ack(5);
  EXPECT_EQ(sent(), Ids{7});
  ack(7);
  ack(8);
  EXPECT_EQ(outbox_.unacked(), 0U);
}

TEST_F(Outbox, acks_that_mean_nothing_are_harmless) {
  add("did:a", true);
  EXPECT_EQ(sent(), Ids{1});
  ack(1);
  ack(1);
  ack(77);
  EXPECT_EQ(outbox_.counts().acked, 1U);
  EXPECT_EQ(outbox_.counts().acked_unknown, 2U);
  add("did:a", true);
  EXPECT_EQ(sent(), Ids{2});
}

TEST_F(Outbox, what_is_unacked_comes_again_after_a_while) {
  add("did:a", true);
  add("did:b", true);
  EXPECT_EQ(sent(), (Ids{1, 2}));
  ack(1);
  now_ += kRetry;
  outbox_.retry(now_);
  EXPECT_EQ(sent(), Ids{});
  now_ += milliseconds(1);
  outbox_.retry(now_);
  outbox_.retry(now_);
  EXPECT_EQ(sent(), Ids{2});
  EXPECT_EQ(outbox_.counts().redelivered, 1U);
  const auto stalls = outbox_.stalls(kRetry, now_);
  ASSERT_EQ(stalls.size(), 1U);
  EXPECT_EQ(stalls.front().did, "did:b");
  EXPECT_EQ(stalls.front().deliveries, 2U);
}

TEST_F(Outbox, begins_at_one_again_when_nothing_is_left) {
  add("did:a", true);
  EXPECT_EQ(sent(), Ids{1});
  ack(1);
  outbox_.restart(End::clean, now_);
  add("did:a", true);
  EXPECT_EQ(sent(), Ids{1});
}

struct Restart {
  End end;
  Ids first;   // sent at once afterwards
  Ids second;  // when that is acked
};

class OutboxRestart : public Outbox, public testing::WithParamInterface<Restart> {};

TEST_P(OutboxRestart, keeps_what_is_left) {
  for (int i = 0; i < 4; ++i) add("did:a", true);
  for (const std::uint64_t id : {1, 2}) {
    EXPECT_EQ(sent(), Ids{id});
    ack(id);
  }
  EXPECT_EQ(sent(), Ids{3});
  outbox_.restart(GetParam().end, now_);
  EXPECT_EQ(sent(), GetParam().first);
  ack(GetParam().first.front());
  EXPECT_EQ(sent(), GetParam().second);
}

INSTANTIATE_TEST_SUITE_P(Ends, OutboxRestart,
                         testing::Values(Restart{End::clean, {3}, {4}},
                                         Restart{End::crash, {1}, {2}},
                                         Restart{End::renumber, {1}, {2}}));

TEST_F(Outbox, loses_only_acks_that_were_not_written) {
  add("did:a", false);
  add("did:a", false);
  EXPECT_EQ(sent(), (Ids{1, 2}));
  ack(1);
  outbox_.retry(now_);
  ack(2);
  outbox_.restart(End::crash, now_);
  EXPECT_EQ(sent(), Ids{2});
}

}  // namespace
}  // namespace skua::sim::tap_outbox_test
