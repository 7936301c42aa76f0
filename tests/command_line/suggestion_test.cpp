#include <vector>

#include <gtest/gtest.h>

#include "command_line/unknown_word.hpp"

namespace skua::command_line {
namespace {

TEST(EditDistance, counts_each_kind_of_edit_once) {
  EXPECT_EQ(edit_distance("status", "status"), 0U);
  EXPECT_EQ(edit_distance("statu", "status"), 1U);
  EXPECT_EQ(edit_distance("statuss", "status"), 1U);
  EXPECT_EQ(edit_distance("stavus", "status"), 1U);
  EXPECT_EQ(edit_distance("statsu", "status"), 1U);
  EXPECT_EQ(edit_distance("", "run"), 3U);
  EXPECT_EQ(edit_distance("run", ""), 3U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
}

TEST(Suggestion, is_the_nearest_known_word) {
  const std::vector<std::string> known = {"record", "replay", "repo", "run", "status"};
  EXPECT_EQ(suggestion("statsu", known), "status");
  EXPECT_EQ(suggestion("repaly", known), "replay");
  EXPECT_EQ(suggestion("rin", known), "run");
  EXPECT_EQ(suggestion("rep", known), "repo");
}

TEST(Suggestion, nothing_that_differs_in_more_than_a_third) {
  const std::vector<std::string> known = {"run", "status"};
  EXPECT_EQ(suggestion("migrate", known), std::nullopt);
  EXPECT_EQ(suggestion("ab", known), std::nullopt);
  EXPECT_EQ(suggestion("", known), std::nullopt);
  EXPECT_EQ(suggestion("status", {}), std::nullopt);
  EXPECT_EQ(suggestion(std::string(1'000'000, 's'), known), std::nullopt);
}

}  // namespace
}  // namespace skua::command_line
