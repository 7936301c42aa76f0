#include "records/lists.hpp"
#include "records/record_rules.hpp"

namespace skua::test::starter_pack_test {
namespace {

using records::StarterPack;
using records::TextList;

const std::string kList = uri_of(kDid, "app.bsky.graph.list", "3jquh3dxv4v2o");
const std::string kFeed = uri_of(kOtherDid, "app.bsky.feed.generator", "birds");

json valid() {
  return {
      {"$type", "app.bsky.graph.starterpack"},  {"name", "Birds"}, {"description", "Begin here"},
      {"descriptionFacets", json::array()},     {"list", kList},   {"feeds", {{{"uri", kFeed}}}},
      {"createdAt", "2026-07-04T14:38:08.000Z"}};
}

INSTANTIATE_TEST_SUITE_P(StarterPack, BreaksLexicon,
                         testing::ValuesIn(breaches_of<StarterPack>(
                             valid(), {"name", "list", "createdAt", "feeds[0].uri"},
                             {"name", "list", "createdAt", "description", "descriptionFacets",
                              "feeds", "feeds[0]"})),
                         breach_name);

TEST(StarterPackTest, fills_its_fields) {
  Valid<StarterPack> pack(valid());
  EXPECT_EQ(pack->name, "Birds");
  EXPECT_EQ(pack->description, "Begin here");
  EXPECT_EQ(pack->description_facets_json, "[]");
  EXPECT_EQ(pack->list->rkey, "3jquh3dxv4v2o");
  EXPECT_EQ(pack->feeds, TextList{kFeed});
  EXPECT_TRUE(pack->created_at);
  EXPECT_EQ(pack->extra, "");
  EXPECT_EQ(references_of(pack.decoded().record), std::vector{kList});
}

TEST(StarterPackTest, keeps_feeds_with_more_than_their_uri) {
  json record = valid();
  record["feeds"][0]["note"] = "best";
  const Valid<StarterPack> pack(record);
  EXPECT_EQ(pack->feeds, TextList{kFeed});
  EXPECT_EQ(json::parse(pack->extra), json({{"feeds", record["feeds"]}}));
}

}  // namespace
}  // namespace skua::test::starter_pack_test
