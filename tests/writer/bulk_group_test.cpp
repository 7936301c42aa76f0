#include "writer/bulk_group.hpp"

#include <chrono>
#include <cstddef>

#include <gtest/gtest.h>

namespace skua::writer::bulk_group_test {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr milliseconds kHalfASecond{500};
/// From the largest group to the smallest.
constexpr int kHalvings = 6;

/// A full group on a server on which each event takes so long.
microseconds write(BulkGroup& group, microseconds an_event) {
  const microseconds took = group.size() * an_event;
  group.took(group.size(), took);
  EXPECT_GE(group.size(), BulkGroup::kSmallest);
  EXPECT_LE(group.size(), BulkGroup::kLargest);
  return took;
}

TEST(BulkGroup, begins_in_the_middle) {
  EXPECT_EQ(BulkGroup().size(), 2'500U);
}

TEST(BulkGroup, is_halved_by_what_took_too_long_down_to_250) {
  BulkGroup group;
  for (const std::size_t size : {2'500U, 1'250U, 625U, 312U, 250U, 250U}) {
    EXPECT_EQ(group.size(), size);
    group.took(size, milliseconds(351));
  }
}

TEST(BulkGroup, grows_by_a_quarter_after_what_was_short_up_to_10000) {
  BulkGroup group;
  for (const std::size_t size : {2'500U, 3'125U, 3'906U, 4'882U, 6'102U, 7'627U, 9'533U, 10'000U}) {
    EXPECT_EQ(group.size(), size);
    group.took(size, milliseconds(199));
  }
  EXPECT_EQ(group.size(), 10'000U);
}

TEST(BulkGroup, stays_when_it_took_as_long_as_it_should) {
  BulkGroup group;
  group.took(group.size(), milliseconds(200));
  group.took(group.size(), milliseconds(350));
  EXPECT_EQ(group.size(), BulkGroup::kFirst);
}

TEST(BulkGroup, learns_nothing_from_a_small_one_that_was_short) {
  BulkGroup group;
  for (int i = 0; i < 100; ++i) group.took(group.size() - 1, milliseconds(1));
  EXPECT_EQ(group.size(), BulkGroup::kFirst);
}

TEST(BulkGroup, learns_from_a_small_one_that_was_long) {
  BulkGroup group;
  group.took(1, milliseconds(351));
  EXPECT_EQ(group.size(), BulkGroup::kFirst / 2);
}

/// Servers of very different speed, told apart by what an event takes; the slowest can just do it.
class BulkGroupOnServer : public testing::TestWithParam<int> {};

TEST_P(BulkGroupOnServer, keeps_transactions_within_half_a_second_and_no_smaller_than_needed) {
  const microseconds an_event(GetParam());
  BulkGroup group;
  for (int i = 0; i < kHalvings; ++i) write(group, an_event);
  for (int i = 0; i < 100; ++i) EXPECT_LE(write(group, an_event), kHalfASecond);
  if (group.size() < BulkGroup::kLargest) {
    EXPECT_GE(group.size() * an_event, BulkGroup::kShort);
  }
}

TEST_P(BulkGroupOnServer, is_within_half_a_second_again_soon_after_the_server_was_fast) {
  const microseconds an_event(GetParam());
  BulkGroup group;
  for (int i = 0; i < 100; ++i) write(group, microseconds(1));
  EXPECT_EQ(group.size(), BulkGroup::kLargest);
  for (int i = 0; i < kHalvings; ++i) write(group, an_event);
  EXPECT_LE(write(group, an_event), kHalfASecond);
}

INSTANTIATE_TEST_SUITE_P(Microseconds, BulkGroupOnServer,
                         testing::Values(1, 15, 20, 35, 50, 100, 300, 1'000, 2'000),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace skua::writer::bulk_group_test
