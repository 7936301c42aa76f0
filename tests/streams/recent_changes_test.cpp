#include <gtest/gtest.h>

#include "streams/change_reader.hpp"

namespace skua::streams::recent_changes_test {
namespace {

/// Changes from a position on, each of this many bytes at least.
ChangePage page_of(std::int64_t from, std::int64_t count, std::size_t bytes) {
  ChangePage page{.events = {}, .next = from + count, .time_us = from + count};
  for (std::int64_t i = 0; i < count; ++i) {
    auto event = std::make_shared<ChangeEvent>();
    event->pos = from + i;
    event->record.assign(bytes, 'x');
    page.events.push_back(std::move(event));
  }
  return page;
}

TEST(RecentChangesTest, returns_changes_from_a_position_on) {
  RecentChanges recent(1'000'000);
  recent.restart(10);
  EXPECT_EQ(recent.begin(), 10);
  EXPECT_TRUE(recent.from(10, 5).empty());
  recent.append(page_of(10, 3, 10));
  recent.append(page_of(13, 2, 10));
  EXPECT_EQ(recent.begin(), 10);
  EXPECT_EQ(recent.end(), 15);
  EXPECT_EQ(recent.time_us(), 15);
  const auto changes = recent.from(12, 2);
  ASSERT_EQ(changes.size(), 2U);
  EXPECT_EQ(changes[0]->pos, 12);
  EXPECT_EQ(changes[1]->pos, 13);
  EXPECT_EQ(recent.from(14, 100).size(), 1U);
  EXPECT_TRUE(recent.from(15, 100).empty());
  EXPECT_TRUE(recent.from(20, 100).empty()) << "not read yet";
}

TEST(RecentChangesTest, forgets_the_oldest_ones_beyond_its_memory) {
  RecentChanges recent(20'000);
  for (std::int64_t from = 1; from < 100; from += 10) recent.append(page_of(from, 10, 1'000));
  EXPECT_LE(recent.bytes(), 20'000U);
  EXPECT_GT(recent.begin(), 80);
  EXPECT_EQ(recent.end(), 101);
  EXPECT_EQ(recent.from(recent.begin(), 1).at(0)->pos, recent.begin());
  recent.append(page_of(101, 1, 30'000));
  EXPECT_EQ(recent.begin(), 102) << "a change over the limit is read from the log";
}

}  // namespace
}  // namespace skua::streams::recent_changes_test
