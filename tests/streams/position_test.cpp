#include <string>

#include <gtest/gtest.h>

#include "streams/change_event.hpp"

namespace skua::streams::position_test {
namespace {

TEST(PositionTest, its_text_can_be_parsed) {
  for (const Position position : {Position{1, 4711}, Position{0, 0}, Position{2147483647, 1},
                                  Position{3, 9223372036854775807}}) {
    EXPECT_EQ(parse_position(position.text()), position) << position.text();
  }
}

TEST(PositionTest, other_texts_are_no_position) {
  for (const char* text : {"", "-", "1", "1-", "-1", "1--1", "+1-1", "1-+1", " 1-1", "1-1 ", "01-1",
                           "1-01", "1-1-1", "a-1", "1-9223372036854775808", "2147483648-1"}) {
    EXPECT_FALSE(parse_position(text)) << text;
  }
}

}  // namespace
}  // namespace skua::streams::position_test
