#include "command_line/display_text.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/text.hpp"

namespace skua::command_line::display_text_test {
namespace {

struct Case {
  const char* text;
  std::size_t width;
};

class DisplayWidth : public testing::TestWithParam<Case> {};

TEST_P(DisplayWidth, is_that_of_a_terminal_with_clusters) {
  EXPECT_EQ(display_width(GetParam().text), GetParam().width);
}

INSTANTIATE_TEST_SUITE_P(Texts, DisplayWidth,
                         testing::Values(Case{"", 0}, Case{"abc", 3}, Case{"é", 1},
                                         Case{"e\u0301", 1}, Case{"森カ", 4}, Case{"ﾊﾛ", 2},
                                         Case{"한", 2}, Case{"\u1112\u1161\u11ab", 2},
                                         Case{"👍🏽", 2}, Case{"👩‍👩‍👧", 2},
                                         Case{"🇪🇺", 2}, Case{"❤", 1}, Case{"❤\ufe0f", 2},
                                         Case{"دانو", 4}, Case{"a\u200bb", 2}, Case{"\u00ad", 1}));

TEST(CutText, leaves_a_column_for_the_mark) {
  struct {
    const char* text;
    std::size_t columns;
    const char* cut;
  } const cases[] = {{"abcdef", 6, "abcdef"},
                     {"abcdef", 5, "abcd…"},
                     {"abcdef", 1, "…"},
                     {"abcdef", 0, ""},
                     {"", 0, ""},
                     {"森カメ", 6, "森カメ"},
                     {"森カメ", 5, "森カ…"},
                     {"森カメ", 4, "森…"},
                     {"👩‍👩‍👧ab", 3, "👩‍👩‍👧…"},
                     {"a👩‍👩‍👧b", 3, "a…"},
                     {"e\u0301e\u0301e\u0301", 2, "e\u0301…"}};
  for (const auto& each : cases) {
    EXPECT_EQ(cut_text(each.text, each.columns), each.cut) << each.text << " " << each.columns;
    EXPECT_LE(display_width(cut_text(each.text, each.columns)), each.columns);
  }
}

TEST(CellText, has_no_control_characters_and_few_marks) {
  EXPECT_EQ(cell_text("a\x1b[2Jb\r\n\tc\x7f\u009b\u202e", 100), "a?[2Jb   c???");
  EXPECT_EQ(cell_text("\xff\xfe", 100), "??");
  std::string marks = "a";
  for (int i = 0; i < 200; ++i) marks += "\u0301";
  EXPECT_EQ(cell_text(marks, 1'000), "a\u0301\u0301\u0301");
  EXPECT_EQ(cell_text(std::string(5'000, 'x'), 100).size(), 100U);
}

TEST(WrappedText, breaks_at_blanks_and_within_long_words) {
  struct {
    const char* text;
    std::size_t columns;
    std::vector<std::string> lines;
  } const cases[] = {
      {"one two three", 7, {"one two", "three"}},
      {"one two three", 8, {"one two", "three"}},
      {"abcdefgh", 3, {"abc", "def", "gh"}},
      {"a abcdefgh", 3, {"a", "abc", "def", "gh"}},
      {"森カメ", 1, {"森", "カ", "メ"}},
      {"a   b", 3, {"a  ", "b"}},
      {"text", 0, {}},
      {"", 10, {}},
  };
  for (const auto& each : cases) {
    EXPECT_EQ(wrapped_text(each.text, each.columns), each.lines) << each.text;
  }
}

}  // namespace
}  // namespace skua::command_line::display_text_test
