#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "sources/relay/relay_group.hpp"

namespace skua::sources::standby_positions_test {
namespace {

using namespace std::chrono_literals;
using TimePoint = StandbyPositions::TimePoint;

constexpr TimePoint kStart{1'000h};

TEST(StandbyPositions, a_position_is_durable_when_the_active_relay_is_beyond_the_margin) {
  StandbyPositions positions(2, 120s);
  positions.seen(1, 1'000, kStart);
  EXPECT_FALSE(positions.wants_head(kStart + 119s));
  positions.head(50, kStart + 119s);
  EXPECT_EQ(positions.durable(1, 100), std::nullopt);
  EXPECT_TRUE(positions.wants_head(kStart + 120s));
  positions.head(70, kStart + 120s);
  EXPECT_FALSE(positions.wants_head(kStart + 121s));
  EXPECT_EQ(positions.durable(1, 69), std::nullopt);
  EXPECT_EQ(positions.durable(1, 70), 1'000);
  EXPECT_EQ(positions.durable(1, 70), std::nullopt);
  EXPECT_EQ(positions.oldest_seen(1), 1'000);
}

TEST(StandbyPositions, the_newest_of_several_counts) {
  StandbyPositions positions(2, 10s);
  for (int i = 0; i < 5; ++i) positions.seen(1, 100 + i, kStart + i * 1s);
  positions.head(7, kStart + 12s);
  EXPECT_EQ(positions.durable(1, 7), 102);
}

TEST(StandbyPositions, what_is_forgotten_is_never_durable) {
  StandbyPositions positions(2, 10s);
  positions.seen(1, 100, kStart);
  positions.head(7, kStart + 10s);
  positions.forget_waiting();
  EXPECT_EQ(positions.durable(1, 1'000), std::nullopt);
  EXPECT_EQ(positions.oldest_seen(1), 100);
  positions.forget(1);
  EXPECT_EQ(positions.oldest_seen(1), std::nullopt);
}

/// Two relays that send the same things, each in its own order and with its own delay, below the
/// margin; a reader of the first that is behind by whatever it likes, and makes durable what it
/// read, in order, whenever it likes. No position is ever called durable of which something is not.
TEST(StandbyPositions, nothing_before_a_durable_position_is_missing) {
  constexpr int kThings = 400;
  constexpr auto kMargin = 20s;
  int confirmed = 0;
  for (unsigned seed = 1; seed <= 300; ++seed) {
    std::mt19937 random(seed);
    const auto chance = [&](int below) {
      return std::uniform_int_distribution<int>(0, below - 1)(random);
    };
    // When each relay sends which thing.
    struct Sent {
      int at;
      int thing;
    };
    std::vector<std::vector<Sent>> streams(2);
    for (auto& stream : streams) {
      for (int thing = 0; thing < kThings; ++thing) stream.push_back({thing + chance(20), thing});
      std::stable_sort(stream.begin(), stream.end(),
                       [](const Sent& a, const Sent& b) { return a.at < b.at; });
    }
    const auto seq_of = [](std::size_t index) {
      return static_cast<std::int64_t>(index) * 3 + 100;
    };
    // The number of the first thing that is sent from a moment on: what a probe gets.
    const auto next_live = [&](const std::vector<Sent>& stream, int at) {
      return std::find_if(stream.begin(), stream.end(),
                          [&](const Sent& sent) { return sent.at >= at; }) -
             stream.begin();
    };
    StandbyPositions positions(2, kMargin);
    std::size_t durable = 0;  // things of the first stream
    std::vector<bool> is_durable(kThings);
    const int behind = chance(3) * 40;
    for (int at = 0; at < kThings + 100; ++at) {
      const auto moment = kStart + at * 1s;
      if (chance(5) == 0) {
        const auto index = static_cast<std::size_t>(next_live(streams[1], at));
        if (index < kThings) {
          // It comes when it is sent, which may be later than the probe began.
          positions.seen(1, seq_of(index), kStart + streams[1][index].at * 1s);
        }
      }
      if (positions.wants_head(moment) && chance(2) == 0) {
        const auto index = static_cast<std::size_t>(next_live(streams[0], at));
        if (index < kThings) positions.head(seq_of(index), moment);
      }
      while (durable < kThings && streams[0][durable].at <= at - behind && chance(4) != 0) {
        is_durable[static_cast<std::size_t>(streams[0][durable++].thing)] = true;
      }
      if (durable == 0) continue;
      const auto position = positions.durable(1, seq_of(durable - 1));
      if (!position) continue;
      ++confirmed;
      for (std::size_t i = 0; i < kThings && seq_of(i) <= *position; ++i) {
        ASSERT_TRUE(is_durable[static_cast<std::size_t>(streams[1][i].thing)])
            << "seed " << seed << ", position " << *position << ", at " << at;
      }
    }
  }
  EXPECT_GT(confirmed, 1'000);
}

}  // namespace
}  // namespace skua::sources::standby_positions_test
