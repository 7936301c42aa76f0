#include "records/reactions.hpp"
#include "records/record_rules.hpp"

namespace skua::test::repost_test {
namespace {

using records::Repost;

const std::string kPost = uri_of(kDid, "app.bsky.feed.post", "3jquh3dxgi52o");
const std::string kVia = uri_of(kOtherDid, "app.bsky.feed.repost", "3jquh3dxv4v2o");

json valid() {
  return {{"$type", "app.bsky.feed.repost"},
          {"subject", strong_ref(kPost)},
          {"via", strong_ref(kVia)},
          {"createdAt", "2026-07-04T14:38:08.999Z"},
          {"unknown", {{"deep", true}}}};
}

INSTANTIATE_TEST_SUITE_P(Repost, BreaksLexicon,
                         testing::ValuesIn(breaches_of<Repost>(valid(), {"subject", "createdAt"},
                                                               {"subject", "via", "createdAt"})),
                         breach_name);

TEST(RepostTest, fills_its_fields) {
  Valid<Repost> repost(valid());
  EXPECT_EQ(repost->subject->rkey, "3jquh3dxgi52o");
  EXPECT_EQ(repost->via->rkey, "3jquh3dxv4v2o");
  EXPECT_TRUE(repost->created_at);
  EXPECT_EQ(json::parse(repost->extra), json({{"unknown", {{"deep", true}}}}));
  EXPECT_EQ(references_of(repost.decoded().record), (std::vector{kPost, kVia}));
}

TEST(RepostTest, needs_no_via) {
  json record = valid();
  record.erase("via");
  Valid<Repost> repost(record);
  EXPECT_FALSE(repost->via);
  EXPECT_EQ(references_of(repost.decoded().record), std::vector{kPost});
}

}  // namespace
}  // namespace skua::test::repost_test
