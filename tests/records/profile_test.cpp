#include "records/profile.hpp"

#include "records/record_rules.hpp"

namespace skua::test::profile_test {
namespace {

using records::Profile;
using records::TextList;

const std::string kPost = uri_of(kDid, "app.bsky.feed.post", "3jquh3dxgi52o");
const std::string kPack = uri_of(kOtherDid, "app.bsky.graph.starterpack", "3jquh3dxv4v2o");

json valid() {
  return {{"$type", "app.bsky.actor.profile"},
          {"displayName", "Alice"},
          {"description", "Birds"},
          {"pronouns", "she/her"},
          {"website", "https://alice.example/"},
          {"avatar", blob()},
          {"banner", blob()},
          {"labels",
           {{"$type", "com.atproto.label.defs#selfLabels"},
            {"values", {{{"val", "!no-unauthenticated"}}}}}},
          {"pinnedPost", strong_ref(kPost)},
          {"joinedViaStarterPack", strong_ref(kPack)},
          {"createdAt", "2026-07-04T14:38:08.000Z"}};
}

INSTANTIATE_TEST_SUITE_P(
    Profile, BreaksLexicon,
    testing::ValuesIn(breaches_of<Profile>(
        valid(), {"pinnedPost.uri", "joinedViaStarterPack.cid", "labels.values[0].val"},
        {"displayName", "description", "pronouns", "website", "avatar", "banner", "labels",
         "pinnedPost", "joinedViaStarterPack", "createdAt"})),
    breach_name);

TEST(ProfileTest, fills_its_fields) {
  Valid<Profile> profile(valid());
  EXPECT_EQ(profile->display_name, "Alice");
  EXPECT_EQ(profile->description, "Birds");
  EXPECT_EQ(profile->pronouns, "she/her");
  EXPECT_EQ(profile->website, "https://alice.example/");
  EXPECT_EQ(profile->avatar->cid_text(), kBlobCid);
  EXPECT_EQ(profile->banner->cid_text(), kBlobCid);
  EXPECT_EQ(profile->labels, TextList{"!no-unauthenticated"});
  EXPECT_EQ(profile->pinned->rkey, "3jquh3dxgi52o");
  EXPECT_EQ(profile->joined_via->rkey, "3jquh3dxv4v2o");
  EXPECT_TRUE(profile->created_at);
  const json rest = {{"mimeType", "image/png"}, {"size", 1234}};
  EXPECT_EQ(json::parse(profile->extra), json({{"$avatar", rest}, {"$banner", rest}}));
  EXPECT_EQ(references_of(profile.decoded().record), (std::vector{kPost, kPack}));
}

TEST(ProfileTest, may_be_empty) {
  const Valid<Profile> profile(json({{"$type", "app.bsky.actor.profile"}}));
  EXPECT_FALSE(profile->display_name);
  EXPECT_FALSE(profile->created_at);
  EXPECT_FALSE(profile->labels);
  EXPECT_EQ(profile->extra, "");
}

TEST(ProfileTest, counts_only_under_self) {
  const DecodedJson other(Profile::kCollection, valid(), "3jquh3dxgi52o");
  EXPECT_EQ(other->invalid_reason, "rkey: must be self");
  EXPECT_EQ(json::parse(other->json), valid());
}

TEST(ProfileTest, refuses_a_website_that_is_no_uri) {
  json record = valid();
  record["website"] = "alice.example";
  EXPECT_EQ(DecodedJson(Profile::kCollection, record, "self")->invalid_reason,
            "website: not a URI");
}

TEST(ProfileTest, keeps_a_blob_with_more_than_its_fields) {
  json record = valid();
  record["avatar"]["crop"] = 3;
  const Valid<Profile> profile(record);
  EXPECT_EQ(profile->avatar->cid_text(), kBlobCid);
  EXPECT_EQ(json::parse(profile->extra),
            json({{"avatar", record["avatar"]},
                  {"$banner", {{"mimeType", "image/png"}, {"size", 1234}}}}));
}

}  // namespace
}  // namespace skua::test::profile_test
