#include "records/reactions.hpp"
#include "records/record_rules.hpp"

namespace skua::test::like_test {
namespace {

using records::Like;

const std::string kPost = uri_of(kDid, "app.bsky.feed.post", "3jquh3dxgi52o");
const std::string kRepost = uri_of(kOtherDid, "app.bsky.feed.repost", "3jquh3dxv4v2o");

json valid() {
  return {{"$type", "app.bsky.feed.like"},
          {"subject", strong_ref(kPost)},
          {"via", strong_ref(kRepost)},
          {"createdAt", "2026-07-04T14:38:08.999Z"}};
}

INSTANTIATE_TEST_SUITE_P(
    Like, BreaksLexicon,
    testing::ValuesIn(breaches_of<Like>(
        valid(), {"subject", "createdAt", "subject.uri", "subject.cid", "via.uri", "via.cid"},
        {"subject", "via", "createdAt", "subject.uri", "subject.cid", "via.uri"})),
    breach_name);

TEST(LikeTest, fills_its_fields) {
  Valid<Like> like(valid());
  ASSERT_TRUE(like->subject);
  EXPECT_EQ(like->subject->did, kDid);
  EXPECT_EQ(like->subject->collection, "app.bsky.feed.post");
  EXPECT_EQ(like->subject->rkey, "3jquh3dxgi52o");
  ASSERT_TRUE(like->subject->cid);
  EXPECT_EQ(like->subject->cid->to_string(), kCid);
  EXPECT_EQ(format_datetime(*like->created_at), "2026-07-04T14:38:08.999000Z");
  EXPECT_EQ(like->extra, "");
  EXPECT_EQ(references_of(like.decoded().record), (std::vector{kPost, kRepost}));
}

TEST(LikeTest, likes_any_collection) {
  json record = valid();
  record["subject"] = strong_ref(uri_of(kDid, "app.bsky.labeler.service", "self"));
  EXPECT_EQ(Valid<Like>(record)->subject->collection, "app.bsky.labeler.service");
}

TEST(LikeTest, keeps_a_reference_that_names_no_record_by_did) {
  for (const std::string& uri :
       {std::string("at://alice.example/app.bsky.feed.post/3jquh3dxgi52o"),
        "at://" + std::string(kDid), "at://" + std::string(kDid) + "/a.b.c"}) {
    json record = valid();
    record["subject"] = strong_ref(uri);
    const Valid<Like> like(record);
    EXPECT_FALSE(like->subject) << uri;
    EXPECT_EQ(json::parse(like->extra), json({{"subject", record["subject"]}}));
  }
}

TEST(LikeTest, keeps_a_via_that_is_no_repost) {
  json record = valid();
  record["via"] = strong_ref(kPost);
  const Valid<Like> like(record);
  EXPECT_FALSE(like->via);
  EXPECT_EQ(json::parse(like->extra), json({{"via", record["via"]}}));
}

TEST(LikeTest, keeps_a_strong_ref_with_more_than_its_fields) {
  json record = valid();
  record["subject"]["note"] = 1;
  const Valid<Like> like(record);
  EXPECT_TRUE(like->subject);
  EXPECT_EQ(json::parse(like->extra), json({{"subject", record["subject"]}}));
}

TEST(LikeTest, keeps_a_cid_of_another_form) {
  json record = valid();
  record["subject"]["cid"] = "QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWnPbdG";
  const Valid<Like> like(record);
  EXPECT_FALSE(like->subject);
  EXPECT_EQ(json::parse(like->extra), json({{"subject", record["subject"]}}));
}

TEST(LikeTest, refuses_what_is_no_uri_and_no_cid) {
  json record = valid();
  record["subject"]["uri"] = "not-a-uri";
  EXPECT_EQ(DecodedJson(Like::kCollection, record)->invalid_reason, "subject.uri: not an AT-URI");
  record = valid();
  record["subject"]["cid"] = "no cid";
  EXPECT_EQ(DecodedJson(Like::kCollection, record)->invalid_reason, "subject.cid: not a CID");
}

}  // namespace
}  // namespace skua::test::like_test
