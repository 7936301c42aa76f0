#include "identity/host_turns.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace skua::identity::host_turns_test {
namespace {

using namespace std::chrono_literals;
using Ids = std::vector<std::uint64_t>;
using Time = HostTurns::Time;

const std::optional<std::uint64_t> kNone;

Ids take_all(HostTurns& turns) {
  Ids ids;
  while (const auto id = turns.take()) ids.push_back(*id);
  return ids;
}

TEST(HostTurns, hosts_take_turns_and_each_has_its_places) {
  HostTurns turns(100, 2);
  for (std::uint64_t id = 1; id <= 4; ++id) turns.push(id, "silent", Time());
  turns.push(5, "other", Time());
  EXPECT_EQ(take_all(turns), (Ids{1, 5, 2}));
  EXPECT_EQ(turns.waiting(), 2U);
  EXPECT_EQ(turns.under_way(), 3U);
  turns.finished("silent");
  EXPECT_EQ(take_all(turns), Ids{3});
  turns.finished("other");
  EXPECT_EQ(take_all(turns), Ids{});
}

TEST(HostTurns, no_more_than_so_many_are_under_way_in_all) {
  HostTurns turns(3, 2);
  for (std::uint64_t id = 1; id <= 5; ++id) turns.push(id, "host " + std::to_string(id), Time());
  EXPECT_EQ(take_all(turns), (Ids{1, 2, 3}));
  turns.finished("host 2");
  EXPECT_EQ(take_all(turns), Ids{4});
}

TEST(HostTurns, what_waited_too_long_is_taken_out_and_not_made) {
  HostTurns turns(100, 1);
  EXPECT_EQ(turns.oldest(), std::nullopt);
  const Time start;
  turns.push(1, "silent", start);
  turns.push(2, "silent", start + 1s);
  turns.push(3, "silent", start + 2s);
  turns.push(4, "silent", start + 3s);
  EXPECT_EQ(take_all(turns), Ids{1});
  EXPECT_EQ(turns.oldest(), start + 1s);
  EXPECT_EQ(turns.take_waiting_since(start), Ids{});
  EXPECT_EQ(turns.take_waiting_since(start + 2s), (Ids{2, 3}));
  EXPECT_EQ(turns.oldest(), start + 3s);
  EXPECT_EQ(turns.waiting(), 1U);
  turns.finished("silent");
  EXPECT_EQ(take_all(turns), Ids{4});
  turns.finished("silent");
  EXPECT_EQ(turns.under_way(), 0U);
}

TEST(HostTurns, an_end_without_a_beginning_is_a_defect) {
  HostTurns turns(1, 1);
  EXPECT_THROW(turns.finished("nobody"), std::logic_error);
}

TEST(HostTurns, agrees_with_a_simple_model) {
  constexpr std::size_t kAtOnce = 5;
  constexpr std::size_t kOfOne = 2;
  std::mt19937 random(3);
  HostTurns turns(kAtOnce, kOfOne);
  std::map<std::uint64_t, std::string> waiting;
  std::multiset<std::string> under_way;
  Time now;
  std::map<std::uint64_t, Time> since;
  for (std::uint64_t id = 1; id < 5'000; ++id) {
    now += 1s;
    const std::string host = "host " + std::to_string(random() % 6);
    turns.push(id, host, now);
    waiting[id] = host;
    since[id] = now;
    if (!under_way.empty() && random() % 3 != 0) {
      const auto ended = std::next(under_way.begin(), random() % under_way.size());
      turns.finished(*ended);
      under_way.erase(ended);
    }
    if (random() % 7 == 0) {
      for (const auto old : turns.take_waiting_since(now - 4s)) {
        ASSERT_LE(since.at(old), now - 4s);
        ASSERT_EQ(waiting.erase(old), 1U);
      }
      for (const auto& [young, name] : waiting) ASSERT_GT(since.at(young), now - 4s);
    }
    while (const auto taken = turns.take()) {
      const std::string name = waiting.at(*taken);
      for (const auto& [other, of] : waiting) {
        if (of == name) {
          ASSERT_GE(other, *taken) << "of one host the first comes first";
        }
      }
      waiting.erase(*taken);
      under_way.insert(name);
      ASSERT_LE(under_way.count(name), kOfOne);
      ASSERT_LE(under_way.size(), kAtOnce);
    }
    if (under_way.size() < kAtOnce) {
      for (const auto& [left, name] : waiting) ASSERT_EQ(under_way.count(name), kOfOne);
    }
    ASSERT_EQ(turns.waiting(), waiting.size());
    ASSERT_EQ(turns.under_way(), under_way.size());
  }
}

}  // namespace
}  // namespace skua::identity::host_turns_test
