#include <gtest/gtest.h>

#include "sources/labeler/label_decoder.hpp"

namespace skua::sources::label_limits_test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const LabelPace::TimePoint kStart{seconds(1'000'000)};

TEST(LabelPace, a_second_of_labels_is_taken_at_once_and_the_rest_at_the_rate) {
  LabelPace pace(100);
  EXPECT_EQ(pace.took(60, kStart), kStart);
  EXPECT_EQ(pace.took(40, kStart), kStart);
  EXPECT_EQ(pace.took(50, kStart), kStart + milliseconds(500));
  EXPECT_EQ(pace.took(100, kStart + milliseconds(500)), kStart + milliseconds(1500));
}

TEST(LabelPace, a_long_pause_saves_no_more_than_a_second) {
  LabelPace pace(100);
  pace.took(100, kStart);
  const auto later = kStart + seconds(3'600);
  EXPECT_EQ(pace.took(100, later), later);
  EXPECT_EQ(pace.took(1, later), later + milliseconds(10));
}

TEST(LabelPace, long_labels_cost_more_than_one) {
  EXPECT_EQ(cost_of(0, 40), 1U) << "a message without labels";
  EXPECT_EQ(cost_of(1, 1'023), 1U);
  EXPECT_EQ(cost_of(3, 900), 3U) << "labels of the usual size";
  EXPECT_EQ(cost_of(1, 8'192 + 512), 17U) << "a label with the longest URI";
  EXPECT_EQ(cost_of(100, 1'024 * 1'024), 2'048U);
}

TEST(LabelPace, a_large_message_is_taken_whole_and_paid_afterwards) {
  LabelPace pace(100);
  EXPECT_EQ(pace.took(1'100, kStart), kStart + seconds(10));
}

}  // namespace
}  // namespace skua::sources::label_limits_test
