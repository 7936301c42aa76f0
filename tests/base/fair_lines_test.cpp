#include <cstddef>
#include <map>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/fair_queue.hpp"

namespace skua::fair_lines_test {
namespace {

using Lines = FairLines<int, std::string>;
using Numbers = std::vector<int>;

Numbers take_all(Lines& lines) {
  Numbers taken;
  while (lines.turns() > 0) {
    EXPECT_EQ(lines.front(), lines.front());
    taken.push_back(lines.take());
  }
  return taken;
}

TEST(FairLines, keys_take_turns_and_each_has_a_limit_of_active_items) {
  Lines lines(2);
  for (int i = 1; i <= 4; ++i) lines.push("silent", i);
  lines.push("other", 5);
  EXPECT_EQ(lines.next(), "silent");
  EXPECT_EQ(lines.front(), 1);
  EXPECT_EQ(take_all(lines), (Numbers{1, 5, 2}));
  EXPECT_EQ(lines.size(), 2U);
  lines.finished("silent");
  EXPECT_EQ(take_all(lines), Numbers{3});
  lines.finished("other");
  EXPECT_EQ(take_all(lines), Numbers{});
  lines.finished("silent");
  EXPECT_EQ(take_all(lines), Numbers{4});
}

TEST(FairLines, without_a_limit_an_end_has_no_effect) {
  Lines lines;
  for (int i = 0; i < 3; ++i) lines.push("a", i);
  for (int i = 3; i < 5; ++i) lines.push("b", i);
  EXPECT_EQ(take_all(lines), (Numbers{0, 3, 1, 4, 2}));
  lines.finished("a");
  EXPECT_EQ(lines.turns(), 0U);
}

TEST(FairLines, an_item_may_be_the_first_of_its_key) {
  Lines lines;
  lines.push_first("a", 1);
  lines.push("a", 2);
  lines.push_first("a", 3);
  lines.push("b", 4);
  EXPECT_EQ(take_all(lines), (Numbers{3, 4, 1, 2}));
}

TEST(FairLines, a_key_may_be_passed_over) {
  Lines lines;
  lines.push("a", 1);
  lines.push("b", 2);
  lines.pass_over();
  EXPECT_EQ(lines.next(), "b");
  EXPECT_EQ(take_all(lines), (Numbers{2, 1}));
}

TEST(FairLines, an_end_without_a_beginning_is_a_defect) {
  Lines lines(1);
  EXPECT_THROW(lines.finished("nobody"), std::logic_error);
  lines.push("a", 1);
  EXPECT_THROW(lines.finished("a"), std::logic_error);
}

/// Against a model: of one key the first comes first, no key has more active items than its limit,
/// and every key that may have a turn has one.
TEST(FairLines, agrees_with_a_simple_model) {
  constexpr std::size_t kAtOnce = 5;
  constexpr std::size_t kOfOne = 2;
  std::mt19937 random(3);
  Lines lines(kOfOne);
  std::map<int, std::string> waiting;
  std::multiset<std::string> active;
  for (int item = 1; item < 5'000; ++item) {
    const std::string key = "key " + std::to_string(random() % 6);
    lines.push(key, item);
    waiting[item] = key;
    if (!active.empty() && random() % 3 != 0) {
      const auto ended = std::next(active.begin(), static_cast<long>(random() % active.size()));
      lines.finished(*ended);
      active.erase(ended);
    }
    while (active.size() < kAtOnce && lines.turns() > 0) {
      const std::string next = lines.next();
      const int taken = lines.take();
      ASSERT_EQ(waiting.at(taken), next);
      for (const auto& [other, of] : waiting) {
        if (of == next) {
          ASSERT_GE(other, taken);
        }
      }
      waiting.erase(taken);
      active.insert(next);
      ASSERT_LE(active.count(next), kOfOne);
    }
    if (active.size() < kAtOnce) {
      for (const auto& [left, of] : waiting) ASSERT_EQ(active.count(of), kOfOne);
    }
    ASSERT_EQ(lines.size(), waiting.size());
  }
}

}  // namespace
}  // namespace skua::fair_lines_test
