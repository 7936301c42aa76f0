#include "exports/key_ranges.hpp"

#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "base/account_number.hpp"

namespace skua::exports::key_ranges_test {
namespace {

constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

/// Reads all ranges of a source in which each key has so many rows.
std::vector<KeyBounds> all_ranges(KeyBounds bounds, std::uint64_t rows_a_range, double rows_a_key) {
  KeyRanges ranges(bounds, rows_a_range);
  std::vector<KeyBounds> all;
  while (const auto range = ranges.next()) {
    all.push_back(*range);
    ranges.complete(static_cast<std::uint64_t>(
        (static_cast<double>(range->last) - static_cast<double>(range->first) + 1) * rows_a_key));
  }
  return all;
}

void expect_whole(const std::vector<KeyBounds>& ranges, KeyBounds bounds) {
  ASSERT_FALSE(ranges.empty());
  EXPECT_EQ(ranges.front().first, bounds.first);
  EXPECT_EQ(ranges.back().last, bounds.last);
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    EXPECT_LE(ranges[i].first, ranges[i].last);
    if (i > 0) {
      EXPECT_EQ(ranges[i].first, ranges[i - 1].last + 1);
    }
  }
}

TEST(KeyRanges, CoverAllKeysOnce) {
  for (const KeyBounds bounds :
       {KeyBounds{1, 1}, KeyBounds{1, 1000}, KeyBounds{1, 1001}, KeyBounds{-5, 123'456},
        KeyBounds{kMost - 10, kMost}, KeyBounds{kMost, kMost}, KeyBounds{kLeast, kLeast + 2000}}) {
    for (const double rows_a_key : {0.0, 0.01, 3.0, 500.0}) {
      expect_whole(all_ranges(bounds, 1000, rows_a_key), bounds);
    }
  }
  expect_whole(all_ranges({kLeast, kMost}, 1000, 0), {kLeast, kMost});
}

// Account numbers: five values of the sequence in each of 64 groups, and the gaps between them.
TEST(KeyRanges, CountNoGapsBetweenGroups) {
  const KeyBounds bounds{number_in_group(0, 3), number_in_group(63, 2), 5};
  for (const std::uint64_t keys : {1, 7, 20, 1000}) {
    KeyRanges ranges(bounds, keys);
    std::vector<KeyBounds> all;
    while (const auto range = ranges.next()) {
      all.push_back(*range);
      std::uint64_t rows = 0;
      for (unsigned group = 0; group < kAccountGroups; ++group) {
        for (std::int64_t drawn = 1; drawn <= 5; ++drawn) {
          const auto key = number_in_group(static_cast<AccountGroup>(group), drawn);
          if (key >= range->first && key <= range->last) ++rows;
        }
      }
      ranges.complete(rows);
    }
    expect_whole(all, bounds);
    EXPECT_LT(all.size(), 64 * 6 / keys + 10) << keys;
  }
  EXPECT_NEAR(part_before(bounds, number_in_group(32, 0)), 0.5, 0.01);
}

TEST(KeyRanges, HaveAboutTheChosenNumberOfRows) {
  const auto ranges = all_ranges({1, 1'000'000}, 10'000, 50);
  ASSERT_GT(ranges.size(), 100U);
  // Before the last range, and after the first ones.
  for (std::size_t i = 5; i + 1 < ranges.size(); ++i) {
    EXPECT_EQ((ranges[i].last - ranges[i].first + 1) * 50, 10'000);
  }
  // A key with more rows than a range is a range of its own.
  for (const KeyBounds& range : all_ranges({1, 50'000}, 10, 100)) {
    if (range.first > 3000) {
      EXPECT_EQ(range.first, range.last);
    }
  }
}

TEST(KeyRanges, WithoutKeysThereAreNone) {
  EXPECT_FALSE(KeyRanges({5, 4}, 10).next());
}

TEST(KeyRanges, StateTheCompletePart) {
  EXPECT_EQ(part_before({1, 100}, 1), 0);
  EXPECT_EQ(part_before({1, 100}, 51), 0.5);
  EXPECT_EQ(part_before({1, 100}, 101), 1);
  EXPECT_NEAR(part_before({kLeast, kMost}, 0), 0.5, 1e-9);
  EXPECT_EQ(part_before({kMost, kMost}, kMost), 0);
}

}  // namespace
}  // namespace skua::exports::key_ranges_test
