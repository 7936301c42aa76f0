// The cursor of a client of several nodes.

#include "streams/node_positions.hpp"

#include <gtest/gtest.h>

namespace skua::streams::node_positions_test {
namespace {

TEST(NodePositions, text_has_the_nodes_by_name) {
  const NodePositions positions{{"west", {1, 4711}}, {"east", {2, 0}}};
  EXPECT_EQ(text_of(positions), "east:2-0,west:1-4711");
  EXPECT_EQ(parse_node_positions("east:2-0,west:1-4711"), positions);
  EXPECT_EQ(parse_node_positions("west:1-4711,east:2-0"), positions);
}

TEST(NodePositions, one_node_is_enough) {
  EXPECT_EQ(parse_node_positions("a:1-2"), (NodePositions{{"a", {1, 2}}}));
}

class MalformedPositions : public testing::TestWithParam<const char*> {};

TEST_P(MalformedPositions, are_refused) {
  EXPECT_EQ(parse_node_positions(GetParam()), std::nullopt);
}

INSTANTIATE_TEST_SUITE_P(texts, MalformedPositions,
                         testing::Values("", "1-4711", "a:", ":1-2", "a:1", "a:1-2,", ",a:1-2",
                                         "a:1-2,,b:1-2", "a:1-2,a:1-3", "a:1-2 ,b:1-2", "a:01-2",
                                         "a:1--2", "a:1-99999999999999999999", "a:b:1-2"));

}  // namespace
}  // namespace skua::streams::node_positions_test
