#include <string>

#include <gtest/gtest.h>

#include "command_line/display_text.hpp"

namespace skua::command_line::table_test {
namespace {

TEST(TableTest, each_column_is_as_wide_as_its_widest_cell) {
  Table table({{"name"}, {"size", true}, {"use"}});
  table.add({"a_long_name", "8", "one"});
  table.add({"b", "1,234,567", ""});
  EXPECT_EQ(table.text(),
            "name              size  use\n"
            "a_long_name          8  one\n"
            "b            1,234,567\n");
}

TEST(TableTest, characters_count_and_not_bytes) {
  Table table({{}, {}});
  table.add({"\xc3\xa4\xc3\xa4", "x"});
  table.add({"abc", "y"});
  EXPECT_EQ(table.text(2), "  \xc3\xa4\xc3\xa4   x\n  abc  y\n");
}

TEST(TableTest, wide_characters_take_two_columns) {
  Table table({{}, {}});
  table.add({"日本", "x"});
  table.add({"abcd", "y"});
  EXPECT_EQ(table.text(), "日本  x\nabcd  y\n");
}

TEST(TableTest, notes_follow_their_row_and_widen_no_column) {
  Table table({{"a"}, {"b"}});
  table.add({"1", "2"});
  table.add_note("a note that is longer than the row");
  table.add({"3", "4"});
  EXPECT_EQ(table.text(1), " a  b\n 1  2\n     a note that is longer than the row\n 3  4\n");
}

TEST(TableTest, without_rows_there_is_the_head_alone) {
  EXPECT_EQ(Table({{"a"}, {"b"}}).text(), "a  b\n");
  EXPECT_EQ(Table({{}, {}}).text(), "");
}

}  // namespace
}  // namespace skua::command_line::table_test
