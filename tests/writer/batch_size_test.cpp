#include <chrono>
#include <cstddef>

#include <gtest/gtest.h>

#include "writer/write_policy.hpp"

namespace skua::writer::batch_size_test {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr milliseconds kHalfASecond{500};
/// From the largest group to the smallest.
constexpr int kHalvings = 6;

/// A full group on a server on which each event takes so long.
microseconds write(BatchSize& group, microseconds an_event) {
  const microseconds took = group.get() * an_event;
  group.took(group.get(), took);
  EXPECT_GE(group.get(), BatchSize::kSmallest);
  EXPECT_LE(group.get(), BatchSize::kLargest);
  return took;
}

TEST(BatchSize, begins_in_the_middle) {
  EXPECT_EQ(BatchSize().get(), 2'500U);
}

TEST(BatchSize, is_halved_by_what_took_too_long_down_to_250) {
  BatchSize group;
  for (const std::size_t size : {2'500U, 1'250U, 625U, 312U, 250U, 250U}) {
    EXPECT_EQ(group.get(), size);
    group.took(size, milliseconds(351));
  }
}

TEST(BatchSize, grows_by_a_quarter_after_what_was_short_up_to_10000) {
  BatchSize group;
  for (const std::size_t size : {2'500U, 3'125U, 3'906U, 4'882U, 6'102U, 7'627U, 9'533U, 10'000U}) {
    EXPECT_EQ(group.get(), size);
    group.took(size, milliseconds(199));
  }
  EXPECT_EQ(group.get(), 10'000U);
}

TEST(BatchSize, stays_when_it_took_as_long_as_it_should) {
  BatchSize group;
  group.took(group.get(), milliseconds(200));
  group.took(group.get(), milliseconds(350));
  EXPECT_EQ(group.get(), BatchSize::kFirst);
}

TEST(BatchSize, learns_nothing_from_a_small_one_that_was_short) {
  BatchSize group;
  for (int i = 0; i < 100; ++i) group.took(group.get() - 1, milliseconds(1));
  EXPECT_EQ(group.get(), BatchSize::kFirst);
}

TEST(BatchSize, learns_from_a_small_one_that_was_long) {
  BatchSize group;
  group.took(1, milliseconds(351));
  EXPECT_EQ(group.get(), BatchSize::kFirst / 2);
}

/// Servers of very different speed, told apart by what an event takes; the slowest can just do it.
class BatchSizeOnServer : public testing::TestWithParam<int> {};

TEST_P(BatchSizeOnServer, keeps_transactions_within_half_a_second_and_no_smaller_than_needed) {
  const microseconds an_event(GetParam());
  BatchSize group;
  for (int i = 0; i < kHalvings; ++i) write(group, an_event);
  for (int i = 0; i < 100; ++i) EXPECT_LE(write(group, an_event), kHalfASecond);
  if (group.get() < BatchSize::kLargest) {
    EXPECT_GE(group.get() * an_event, BatchSize::kShort);
  }
}

TEST_P(BatchSizeOnServer, is_within_half_a_second_again_soon_after_the_server_was_fast) {
  const microseconds an_event(GetParam());
  BatchSize group;
  for (int i = 0; i < 100; ++i) write(group, microseconds(1));
  EXPECT_EQ(group.get(), BatchSize::kLargest);
  for (int i = 0; i < kHalvings; ++i) write(group, an_event);
  EXPECT_LE(write(group, an_event), kHalfASecond);
}

INSTANTIATE_TEST_SUITE_P(Microseconds, BatchSizeOnServer,
                         testing::Values(1, 15, 20, 35, 50, 100, 300, 1'000, 2'000),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace skua::writer::batch_size_test
