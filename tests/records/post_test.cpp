#include "records/post.hpp"

#include "records/record_rules.hpp"

namespace skua::test::post_test {
namespace {

using records::Facet;
using records::Post;
using records::TextList;

const std::string kRoot = uri_of(kDid, "app.bsky.feed.post", "3jquh3dxgi52o");
const std::string kParent = uri_of(kOtherDid, "app.bsky.feed.post", "3jquh3dxv4v2o");
const std::string kQuoted = uri_of(kOtherDid, "app.bsky.feed.generator", "birds");

json image() {
  return {{"image", blob()}, {"alt", "a bird"}, {"aspectRatio", {{"width", 4}, {"height", 3}}}};
}

json images() {
  return {{"$type", "app.bsky.embed.images"}, {"images", {image()}}};
}

json gallery() {
  json item = image();
  item["$type"] = "app.bsky.embed.gallery#image";
  return {{"$type", "app.bsky.embed.gallery"}, {"items", {item}}};
}

json video() {
  return {{"$type", "app.bsky.embed.video"},
          {"video", blob("video/mp4")},
          {"captions", {{{"lang", "en"}, {"file", blob("text/vtt")}}}},
          {"alt", "birds"},
          {"aspectRatio", {{"width", 16}, {"height", 9}}},
          {"presentation", "gif"}};
}

json external() {
  return {{"$type", "app.bsky.embed.external"},
          {"external",
           {{"uri", "https://birds.example/"},
            {"title", "Birds"},
            {"description", "All"},
            {"thumb", blob()},
            {"associatedRefs", {strong_ref(kRoot)}}}}};
}

json quote() {
  return {{"$type", "app.bsky.embed.record"}, {"record", strong_ref(kQuoted)}};
}

json quote_with(const json& media) {
  return {{"$type", "app.bsky.embed.recordWithMedia"}, {"record", quote()}, {"media", media}};
}

json facet(const json& feature) {
  return {{"index", {{"byteStart", 0}, {"byteEnd", 5}}}, {"features", {feature}}};
}

json feature(const std::string& name, const std::string& key, std::string_view value) {
  return {{"$type", "app.bsky.richtext.facet#" + name}, {key, value}};
}

json with_embed(const json& embed) {
  return {{"$type", "app.bsky.feed.post"},
          {"text", "hello"},
          {"embed", embed},
          {"createdAt", "2026-07-04T14:38:08.000Z"}};
}

json valid() {
  return {
      {"$type", "app.bsky.feed.post"},
      {"text", "hello"},
      {"langs", {"en", "ja"}},
      {"tags", {"birds"}},
      {"labels",
       {{"$type", "com.atproto.label.defs#selfLabels"}, {"values", {{{"val", "nudity"}}}}}},
      {"facets",
       {facet(feature("mention", "did", kDid)), facet(feature("link", "uri", "https://a.example")),
        facet(feature("tag", "tag", "birds"))}},
      {"entities", {{{"index", {{"start", 0}, {"end", 1}}}, {"type", "link"}, {"value", "x"}}}},
      {"reply", {{"root", strong_ref(kRoot)}, {"parent", strong_ref(kParent)}}},
      {"embed", quote_with(images())},
      {"createdAt", "2026-07-04T14:38:08.123456Z"}};
}

INSTANTIATE_TEST_SUITE_P(
    Post, BreaksLexicon,
    testing::ValuesIn(breaches_of<Post>(valid(),
                                        {"text",
                                         "createdAt",
                                         "labels.$type",
                                         "labels.values",
                                         "labels.values[0].val",
                                         "facets[0].index",
                                         "facets[0].index.byteStart",
                                         "facets[0].features",
                                         "facets[0].features[0].$type",
                                         "facets[0].features[0].did",
                                         "facets[1].features[0].uri",
                                         "facets[2].features[0].tag",
                                         "entities[0].index",
                                         "entities[0].index.end",
                                         "entities[0].type",
                                         "entities[0].value",
                                         "reply.root",
                                         "reply.parent",
                                         "reply.root.uri",
                                         "embed.$type",
                                         "embed.record",
                                         "embed.record.record",
                                         "embed.record.record.cid",
                                         "embed.media",
                                         "embed.media.$type",
                                         "embed.media.images",
                                         "embed.media.images[0].alt",
                                         "embed.media.images[0].image",
                                         "embed.media.images[0].aspectRatio.width"},
                                        {"text",
                                         "langs",
                                         "langs[1]",
                                         "tags",
                                         "labels",
                                         "facets",
                                         "facets[0]",
                                         "facets[0].index",
                                         "facets[0].index.byteEnd",
                                         "facets[0].features",
                                         "facets[2].features[0].tag",
                                         "entities",
                                         "reply",
                                         "reply.parent",
                                         "reply.root.cid",
                                         "embed",
                                         "embed.media",
                                         "embed.record",
                                         "embed.media.images",
                                         "embed.media.images[0].image",
                                         "embed.media.images[0].alt",
                                         "createdAt"})),
    breach_name);
INSTANTIATE_TEST_SUITE_P(
    PostWithVideo, BreaksLexicon,
    testing::ValuesIn(breaches_of<Post>(
        with_embed(video()),
        {"embed.video", "embed.captions[0].lang", "embed.captions[0].file", "embed.video.ref"},
        {"embed.video", "embed.captions", "embed.alt", "embed.aspectRatio", "embed.presentation"})),
    breach_name);
INSTANTIATE_TEST_SUITE_P(PostWithExternal, BreaksLexicon,
                         testing::ValuesIn(breaches_of<Post>(
                             with_embed(external()),
                             {"embed.external", "embed.external.uri", "embed.external.title",
                              "embed.external.description", "embed.external.associatedRefs[0].uri"},
                             {"embed.external", "embed.external.uri", "embed.external.thumb"})),
                         breach_name);
INSTANTIATE_TEST_SUITE_P(PostWithGallery, BreaksLexicon,
                         testing::ValuesIn(breaches_of<Post>(with_embed(gallery()),
                                                             {"embed.items", "embed.items[0].$type",
                                                              "embed.items[0].aspectRatio",
                                                              "embed.items[0].alt"},
                                                             {"embed.items", "embed.items[0]"})),
                         breach_name);
INSTANTIATE_TEST_SUITE_P(PostWithQuote, BreaksLexicon,
                         testing::ValuesIn(breaches_of<Post>(with_embed(quote()),
                                                             {"embed.record", "embed.record.uri"},
                                                             {"embed.record"})),
                         breach_name);

TEST(PostTest, fills_its_fields) {
  Valid<Post> post(valid());
  EXPECT_EQ(post->text, "hello");
  EXPECT_EQ(post->langs, (TextList{"en", "ja"}));
  EXPECT_EQ(post->tags, TextList{"birds"});
  EXPECT_EQ(post->labels, TextList{"nudity"});
  EXPECT_EQ(json::parse(post->facets_json), valid()["facets"]);
  EXPECT_EQ(json::parse(post->embed_json), valid()["embed"]);
  EXPECT_EQ(post->root->rkey, "3jquh3dxgi52o");
  EXPECT_EQ(post->parent->rkey, "3jquh3dxv4v2o");
  EXPECT_EQ(post->quote->collection, "app.bsky.feed.generator");
  EXPECT_EQ(format_datetime(*post->created_at), "2026-07-04T14:38:08.123456Z");
  // The predecessor of facets has no column.
  EXPECT_EQ(json::parse(post->extra), json({{"entities", valid()["entities"]}}));
  EXPECT_EQ(references_of(post.decoded().record),
            (std::vector{kParent, kRoot, kQuoted, std::string(kDid)}));
}

TEST(PostTest, needs_text_and_time_only) {
  Valid<Post> post(json(
      {{"$type", "app.bsky.feed.post"}, {"text", ""}, {"createdAt", "2026-07-04T14:38:08.000Z"}}));
  EXPECT_EQ(post->text, "");
  EXPECT_FALSE(post->langs);
  EXPECT_FALSE(post->tags);
  EXPECT_FALSE(post->labels);
  EXPECT_EQ(post->facets_json, "");
  EXPECT_EQ(post->embed_json, "");
  EXPECT_FALSE(post->root || post->parent || post->quote);
  EXPECT_EQ(post->extra, "");
  EXPECT_TRUE(references_of(post.decoded().record).empty());
}

TEST(PostTest, tells_an_empty_list_from_none) {
  json record = valid();
  record["langs"] = json::array();
  EXPECT_EQ(Valid<Post>(record)->langs, TextList{});
}

TEST(PostTest, has_its_facets_typed) {
  const Valid<Post> post(valid());
  ASSERT_EQ(post->facets.size(), 3U);
  EXPECT_EQ(post->facets[0].kind, Facet::Kind::Mention);
  EXPECT_EQ(post->facets[0].value, kDid);
  EXPECT_EQ(post->facets[0].byte_start, 0);
  EXPECT_EQ(post->facets[0].byte_end, 5);
  EXPECT_EQ(post->facets[1].kind, Facet::Kind::Link);
  EXPECT_EQ(post->facets[1].value, "https://a.example");
  EXPECT_EQ(post->facets[2].kind, Facet::Kind::Tag);
  EXPECT_EQ(post->facets[2].value, "birds");
}

TEST(PostTest, takes_features_that_it_does_not_know) {
  json record = valid();
  record["facets"] = json::array({facet({{"$type", "com.example.bold"}})});
  const Valid<Post> post(record);
  EXPECT_TRUE(post->facets.empty());
  EXPECT_EQ(json::parse(post->facets_json), record["facets"]);
}

TEST(PostTest, refuses_a_mention_of_no_did) {
  json record = valid();
  record["facets"] = json::array({facet(feature("mention", "did", "alice.example"))});
  EXPECT_EQ(DecodedJson(Post::kCollection, record)->invalid_reason,
            "facets[0].features[0].did: not a DID");
}

TEST(PostTest, has_its_images_typed) {
  for (const json& embed : {images(), gallery(), quote_with(images())}) {
    const Valid<Post> post(with_embed(embed));
    ASSERT_EQ(post->embed.images.size(), 1U);
    EXPECT_EQ(post->embed.images[0].alt, "a bird");
    EXPECT_EQ(post->embed.images[0].image.cid_text(), kBlobCid);
    EXPECT_EQ(post->embed.images[0].aspect_ratio->width, 4);
    EXPECT_EQ(json::parse(post->embed_json), embed);
  }
}

TEST(PostTest, has_its_video_typed) {
  const Valid<Post> post(with_embed(video()));
  ASSERT_EQ(post->embed.video.size(), 1U);
  EXPECT_EQ(post->embed.video[0].video.cid_text(), kBlobCid);
  EXPECT_EQ(post->embed.video[0].captions.at(0).lang, "en");
  EXPECT_EQ(post->embed.video[0].alt, "birds");
  EXPECT_EQ(post->embed.video[0].aspect_ratio->height, 9);
  EXPECT_EQ(post->extra, "");
}

TEST(PostTest, has_its_link_card_typed) {
  const Valid<Post> post(with_embed(external()));
  ASSERT_EQ(post->embed.external.size(), 1U);
  EXPECT_EQ(post->embed.external[0].uri, "https://birds.example/");
  EXPECT_EQ(post->embed.external[0].title, "Birds");
  EXPECT_EQ(post->embed.external[0].thumb->cid_text(), kBlobCid);
}

TEST(PostTest, takes_an_embed_that_it_does_not_know) {
  const json embed = {{"$type", "com.example.embed"}, {"poll", {1, 2}}};
  const Valid<Post> post(with_embed(embed));
  EXPECT_EQ(json::parse(post->embed_json), embed);
  EXPECT_FALSE(post->quote);
}

TEST(PostTest, quotes_with_media) {
  Valid<Post> post(with_embed(quote_with(external())));
  EXPECT_EQ(references_of(post.decoded().record), std::vector{kQuoted});
  EXPECT_EQ(post->embed.external.size(), 1U);
}

TEST(PostTest, keeps_a_reply_to_what_is_no_post) {
  json record = valid();
  record.erase("entities");
  record["reply"]["root"] = strong_ref(kQuoted);
  Valid<Post> post(record);
  EXPECT_FALSE(post->root);
  EXPECT_TRUE(post->parent);
  EXPECT_EQ(json::parse(post->extra), json({{"reply", record["reply"]}}));
}

TEST(PostTest, its_type_must_be_its_collection) {
  json record = valid();
  record["$type"] = "app.bsky.feed.like";
  EXPECT_EQ(DecodedJson(Post::kCollection, record)->invalid_reason,
            "$type: must be app.bsky.feed.post");
}

}  // namespace
}  // namespace skua::test::post_test
