#include "atproto/collection_filter.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace skua::atproto::collection_filter_test {
namespace {

struct Pattern {
  const char* name;
  const char* text;
  bool is_one;
};

class CollectionPattern : public testing::TestWithParam<Pattern> {};

TEST_P(CollectionPattern, is_an_nsid_or_a_prefix) {
  EXPECT_EQ(is_collection_pattern(GetParam().text), GetParam().is_one);
}

INSTANTIATE_TEST_SUITE_P(
    , CollectionPattern,
    testing::Values(Pattern{"nsid", "app.bsky.feed.post", true},
                    Pattern{"prefix", "app.bsky.feed.*", true},
                    Pattern{"short_prefix", "app.bsky.*", true},
                    Pattern{"domain_alone", "app.*", false}, Pattern{"star", "*", false},
                    Pattern{"dot_star", ".*", false}, Pattern{"two_segments", "app.bsky", false},
                    Pattern{"star_within", "app.*.post", false},
                    Pattern{"star_without_dot", "app.bsky.feed*", false},
                    Pattern{"two_stars", "app.bsky.*.*", false}, Pattern{"empty", "", false},
                    Pattern{"blank", "app.bsky.feed. *", false},
                    Pattern{"did", "did:plc:aaaaaaaaaaaaaaaaaaaaaaaa", false}),
    [](const auto& tested) { return tested.param.name; });

struct Case {
  const char* name;
  std::vector<std::string> patterns;
  const char* collection;
  bool passes;
};

class CollectionFilterTest : public testing::TestWithParam<Case> {};

TEST_P(CollectionFilterTest, lets_through_what_a_pattern_names) {
  const CollectionFilter filter(GetParam().patterns);
  EXPECT_EQ(filter.passes(GetParam().collection), GetParam().passes);
  EXPECT_EQ(filter.passes_all(), GetParam().patterns.empty());
}

INSTANTIATE_TEST_SUITE_P(
    , CollectionFilterTest,
    testing::Values(
        Case{"no_pattern", {}, "app.bsky.feed.post", true},
        Case{"the_name", {"app.bsky.feed.post"}, "app.bsky.feed.post", true},
        Case{"one_of_several", {"b.c.d", "app.bsky.feed.post", "a.b.c"}, "b.c.d", true},
        Case{"another_name", {"app.bsky.feed.post"}, "app.bsky.feed.like", false},
        Case{"a_longer_name", {"app.bsky.feed.post"}, "app.bsky.feed.postgate", false},
        Case{"case_counts", {"app.bsky.feed.post"}, "app.bsky.feed.Post", false},
        Case{"below_a_prefix", {"app.bsky.graph.*"}, "app.bsky.graph.follow", true},
        Case{"deep_below_a_prefix", {"app.bsky.*"}, "app.bsky.graph.follow", true},
        Case{"beside_a_prefix", {"app.bsky.graph.*"}, "app.bsky.graphs.follow", false},
        Case{"a_prefix_does_not_name_itself", {"app.bsky.graph.*"}, "app.bsky.graph", false},
        Case{"a_prefix_or_a_name",
             {"app.bsky.graph.*", "chat.bsky.actor.declaration"},
             "chat.bsky.actor.declaration",
             true},
        Case{"nothing", {"app.bsky.graph.*"}, "", false}),
    [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace skua::atproto::collection_filter_test
