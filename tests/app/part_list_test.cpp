#include "app/part_list.hpp"

#include <chrono>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace skua::app::part_list_test {
namespace {

using testing::ElementsAre;

/// Parts that note their steps.
class PartListTest : public testing::Test {
 protected:
  void add(const std::string& name, bool is_drained = true, bool is_saved = true) {
    const auto notes = [this, name](const std::string& step) {
      return [this, text = step + " " + name] { steps_.push_back(text); };
    };
    parts_.add(
        {.start = notes("start"),
         .close = notes("close"),
         .drain =
             [this, name, is_drained](Part::Deadline deadline) {
               steps_.push_back("drain " + name);
               deadlines_.push_back(deadline);
               return is_drained;
             },
         .end = [this,
                 name](bool drained) { steps_.push_back((drained ? "end " : "abandon ") + name); },
         .save =
             [this, name, is_saved] {
               steps_.push_back("save " + name);
               return is_saved;
             },
         .drop = notes("drop")});
  }

  PartList parts_;
  std::vector<std::string> steps_;
  std::vector<Part::Deadline> deadlines_;
};

TEST_F(PartListTest, starts_in_its_order_and_stops_step_by_step_in_the_reverse) {
  add("base");
  add("intake");
  parts_.start();
  EXPECT_TRUE(parts_.stop(std::chrono::seconds(10)));
  EXPECT_THAT(steps_, ElementsAre("start base", "start intake", "close intake", "close base",
                                  "drain intake", "drain base", "end intake", "end base",
                                  "save intake", "save base"));
}

TEST_F(PartListTest, all_parts_have_one_deadline) {
  add("base");
  add("intake");
  const auto before = std::chrono::steady_clock::now();
  EXPECT_TRUE(parts_.stop(std::chrono::hours(1)));
  ASSERT_EQ(deadlines_.size(), 2U);
  EXPECT_EQ(deadlines_[0], deadlines_[1]);
  EXPECT_GE(deadlines_[0], before + std::chrono::hours(1));
}

TEST_F(PartListTest, a_part_that_is_not_drained_is_known_to_all_when_they_end) {
  add("base");
  add("intake", false);
  add("other");
  EXPECT_FALSE(parts_.stop(std::chrono::seconds(10)));
  EXPECT_THAT(steps_, ElementsAre("close other", "close intake", "close base", "drain other",
                                  "drain intake", "drain base", "abandon other", "abandon intake",
                                  "abandon base", "save other", "save intake", "save base"));
}

TEST_F(PartListTest, one_position_that_is_not_saved_keeps_no_other_from_being_saved) {
  add("base");
  add("intake", true, false);
  EXPECT_FALSE(parts_.stop(std::chrono::seconds(10)));
  EXPECT_EQ(steps_.back(), "save base");
}

TEST_F(PartListTest, a_drop_waits_for_nothing_and_saves_nothing) {
  add("intake", false);
  parts_.drop();
  EXPECT_THAT(steps_, ElementsAre("close intake", "drain intake", "abandon intake", "drop intake"));
  EXPECT_LE(deadlines_.at(0), std::chrono::steady_clock::now());
}

TEST_F(PartListTest, a_part_leaves_out_the_steps_that_it_does_not_have) {
  parts_.add({});
  parts_.add({.end = [this](bool) { steps_.emplace_back("end"); }});
  parts_.start();
  EXPECT_TRUE(parts_.stop(std::chrono::seconds(10)));
  EXPECT_THAT(steps_, ElementsAre("end"));
}

TEST_F(PartListTest, each_part_adds_its_metrics_in_the_order_of_the_list) {
  parts_.add({.add_metrics = [](pipeline::Metrics& metrics) { metrics.source += "a"; }});
  parts_.add({});
  parts_.add({.add_metrics = [](pipeline::Metrics& metrics) { metrics.source += "b"; }});
  pipeline::Metrics metrics;
  parts_.add_metrics(metrics);
  EXPECT_EQ(metrics.source, "ab");
}

}  // namespace
}  // namespace skua::app::part_list_test
