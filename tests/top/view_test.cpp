#include "top/view.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "top/sections.hpp"

namespace skua::top::view_test {
namespace {

using namespace std::chrono_literals;
using Actions = std::vector<Action>;

constexpr auto kSection9 =
    static_cast<Action>(static_cast<int>(Action::Section1) + static_cast<int>(kSections) - 1);

struct Keys {
  const char* bytes;
  Actions actions;
};

class KeysOfTerminals : public testing::TestWithParam<Keys> {};

TEST_P(KeysOfTerminals, are_read_whole_and_byte_by_byte) {
  const auto& [bytes, actions] = GetParam();
  KeyReader whole;
  EXPECT_EQ(whole.read(bytes), actions);
  EXPECT_FALSE(whole.is_within_key());
  KeyReader single;
  Actions all;
  for (const char byte : std::string(bytes)) {
    for (const Action action : single.read(std::string(1, byte))) all.push_back(action);
  }
  EXPECT_EQ(all, actions);
}

INSTANTIATE_TEST_SUITE_P(
    Keys, KeysOfTerminals,
    testing::Values(Keys{"q", {Action::Quit}}, Keys{"\x03", {Action::Quit}},
                    Keys{"p ", {Action::Pause, Action::Pause}},
                    Keys{"+-", {Action::Slower, Action::Faster}},
                    Keys{"019", {Action::Overview, Action::Section1, kSection9}},
                    Keys{"\t\x1b[Z", {Action::NextSection, Action::PreviousSection}},
                    Keys{"\x1b[A\x1b[B\x1b[C\x1b[D",
                         {Action::Up, Action::Down, Action::NextSection, Action::PreviousSection}},
                    Keys{"\x1bOA\x1bOH\x1bOF", {Action::Up, Action::First, Action::Last}},
                    Keys{"\x1b[5~\x1b[6~\x1b[1~\x1b[4~",
                         {Action::PageUp, Action::PageDown, Action::First, Action::Last}},
                    Keys{"\x1b[1;5A\x1b[200~q", {Action::Quit}},
                    Keys{"xyz\xff\xc3\xa9h", {Action::Help}}));

TEST(KeyReader, takes_a_single_escape_for_the_overview) {
  KeyReader keys;
  EXPECT_EQ(keys.read("\x1b"), Actions());
  EXPECT_TRUE(keys.is_within_key());
  EXPECT_EQ(keys.flush(), Actions{Action::Overview});
  EXPECT_FALSE(keys.is_within_key());
  EXPECT_EQ(keys.read("\x1b\x1b[A"), (Actions{Action::Overview, Action::Up}));
  EXPECT_EQ(keys.read("\x1b["), Actions());
  EXPECT_EQ(keys.flush(), Actions());
}

TEST(KeyReader, keeps_little_of_an_endless_sequence) {
  KeyReader keys;
  for (int i = 0; i < 1'000; ++i) keys.read("\x1b[;;;;;;;;;;;;;;;;;;;;;;");
  EXPECT_EQ(keys.read("Aq").back(), Action::Quit);
}

TEST(View, goes_round_the_sections) {
  View view;
  view.scroll = 5;
  view.apply(Action::NextSection, 10);
  EXPECT_EQ(view.section, 1U);
  EXPECT_EQ(view.scroll, 0U);
  view.apply(Action::PreviousSection, 10);
  EXPECT_EQ(view.section, 0U);
  view.apply(Action::PreviousSection, 10);
  EXPECT_EQ(view.section, kSections);
  view.apply(Action::NextSection, 10);
  EXPECT_EQ(view.section, 0U);
  view.apply(kSection9, 10);
  EXPECT_EQ(view.section, 9U);
  view.apply(Action::Overview, 10);
  EXPECT_EQ(view.section, 0U);
}

TEST(View, scrolls_within_bounds) {
  View view;
  view.apply(Action::Up, 10);
  view.apply(Action::PageUp, 10);
  EXPECT_EQ(view.scroll, 0U);
  view.apply(Action::PageDown, 10);
  view.apply(Action::Down, 10);
  EXPECT_EQ(view.scroll, 11U);
  view.apply(Action::Last, 10);
  view.apply(Action::PageDown, 10);
  EXPECT_GT(view.scroll, 1'000'000U);
  view.apply(Action::First, 10);
  EXPECT_EQ(view.scroll, 0U);
}

TEST(View, changes_the_interval_within_bounds) {
  View view;
  EXPECT_EQ(view.every, 2s);
  for (int i = 0; i < 10; ++i) view.apply(Action::Slower, 10);
  EXPECT_EQ(view.every, View::kLongest);
  for (int i = 0; i < 10; ++i) view.apply(Action::Faster, 10);
  EXPECT_EQ(view.every, View::kShortest);
}

TEST(View, remembers_what_was_asked_for) {
  View view;
  view.apply(Action::Pause, 10);
  EXPECT_TRUE(view.is_paused);
  view.apply(Action::Refresh, 10);
  EXPECT_TRUE(view.is_due);
  view.apply(Action::Help, 10);
  EXPECT_TRUE(view.shows_help);
  view.apply(Action::Down, 10);
  EXPECT_FALSE(view.shows_help);
  view.apply(Action::Help, 10);
  view.apply(Action::Help, 10);
  EXPECT_FALSE(view.shows_help);
  view.apply(Action::Quit, 10);
  EXPECT_TRUE(view.is_over);
}

}  // namespace
}  // namespace skua::top::view_test
