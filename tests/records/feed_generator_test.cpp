#include "records/record_rules.hpp"
#include "records/services.hpp"

namespace skua::test::feed_generator_test {
namespace {

using records::FeedGenerator;
using records::TextList;

json valid() {
  return {
      {"$type", "app.bsky.feed.generator"},
      {"did", kOtherDid},
      {"displayName", "Birds"},
      {"description", "All of them"},
      {"descriptionFacets",
       {{{"index", {{"byteStart", 0}, {"byteEnd", 3}}},
         {"features", {{{"$type", "app.bsky.richtext.facet#tag"}, {"tag", "all"}}}}}}},
      {"avatar", blob()},
      {"acceptsInteractions", false},
      {"contentMode", "app.bsky.feed.defs#contentModeVideo"},
      {"labels", {{"$type", "com.atproto.label.defs#selfLabels"}, {"values", {{{"val", "porn"}}}}}},
      {"createdAt", "2026-07-04T14:38:08.000Z"}};
}

INSTANTIATE_TEST_SUITE_P(FeedGenerator, BreaksLexicon,
                         testing::ValuesIn(breaches_of<FeedGenerator>(
                             valid(),
                             {"did", "displayName", "createdAt", "avatar.ref", "avatar.mimeType",
                              "avatar.size", "labels.values", "labels.$type",
                              "descriptionFacets[0].index"},
                             {"did", "displayName", "createdAt", "description", "descriptionFacets",
                              "avatar", "avatar.mimeType", "avatar.size", "acceptsInteractions",
                              "contentMode", "labels", "labels.values"})),
                         breach_name);

TEST(FeedGeneratorTest, fills_its_fields) {
  Valid<FeedGenerator> generator(valid());
  EXPECT_EQ(generator->service_did, kOtherDid);
  EXPECT_EQ(generator->display_name, "Birds");
  EXPECT_EQ(generator->description, "All of them");
  EXPECT_EQ(json::parse(generator->description_facets_json), valid()["descriptionFacets"]);
  EXPECT_EQ(generator->avatar->cid_text(), kBlobCid);
  EXPECT_EQ(generator->avatar->mime_type, "image/png");
  EXPECT_EQ(generator->avatar->size, 1234);
  EXPECT_EQ(generator->accepts_interactions, false);
  EXPECT_EQ(generator->content_mode, "app.bsky.feed.defs#contentModeVideo");
  EXPECT_EQ(generator->labels, TextList{"porn"});
  EXPECT_EQ(generator->extra, R"({"$avatar":{"mimeType":"image/png","size":1234}})");
  EXPECT_TRUE(references_of(generator.decoded().record).empty());
}

TEST(FeedGeneratorTest, takes_a_legacy_blob) {
  json record = valid();
  record["avatar"] = {{"cid", kBlobCid}, {"mimeType", "image/jpeg"}};
  const Valid<FeedGenerator> generator(record);
  EXPECT_EQ(generator->avatar->cid_text(), kBlobCid);
  EXPECT_FALSE(generator->avatar->size);
  EXPECT_EQ(json::parse(generator->extra), json({{"avatar", record["avatar"]}}));
}

TEST(FeedGeneratorTest, refuses_what_is_no_blob) {
  json record = valid();
  record["avatar"] = {{"$link", kBlobCid}};
  EXPECT_EQ(DecodedJson(FeedGenerator::kCollection, record)->invalid_reason,
            "avatar: must be an object");
  record["avatar"] = {{"mimeType", "image/png"}};
  EXPECT_EQ(DecodedJson(FeedGenerator::kCollection, record)->invalid_reason,
            "avatar: must be a blob");
  record = valid();
  record["avatar"]["ref"] = kBlobCid;
  EXPECT_EQ(DecodedJson(FeedGenerator::kCollection, record)->invalid_reason,
            "avatar.ref: must be a link");
}

TEST(FeedGeneratorTest, refuses_a_did_that_is_none) {
  json record = valid();
  record["did"] = "other.example";
  EXPECT_EQ(DecodedJson(FeedGenerator::kCollection, record)->invalid_reason, "did: not a DID");
}

}  // namespace
}  // namespace skua::test::feed_generator_test
