#include "records/record.hpp"

#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "lexicon/built_in.hpp"
#include "records/record_rules.hpp"
#include "repo/dag_cbor.hpp"

namespace skua::test::record_test {
namespace {

using namespace records;

TEST(RecordTest, each_collection_is_found_by_its_name) {
  std::set<std::string_view> names;
  records::for_each_collection([&]<class T>() {
    names.insert(T::kCollection);
    EXPECT_EQ(record_type_of(T::kCollection), T::kType) << T::kCollection;
    EXPECT_EQ(typed_collection_id(T::kCollection), T::kCollectionId) << T::kCollection;
  });
  EXPECT_EQ(names.size(), kTypedCollections);
}

TEST(RecordTest, other_collections_are_metadata_without_id) {
  for (const std::string_view other :
       {"", "com.example.note", "app.bsky.feed.posts", "app.bsky.feed.pos"}) {
    EXPECT_EQ(record_type_of(other), RecordType::Metadata);
    EXPECT_EQ(typed_collection_id(other), 0);
  }
}

TEST(RecordTest, any_other_collection_becomes_json) {
  const json record = {{"$type", "com.example.note"}, {"a", {1, nullptr, {{"b", "c"}}}}};
  const DecodedJson decoded("com.example.note", record, "any");
  EXPECT_TRUE(std::holds_alternative<std::monostate>(decoded->record));
  EXPECT_FALSE(decoded->invalid_reason);
  EXPECT_EQ(json::parse(decoded->json), record);
}

TEST(RecordTest, a_float_breaks_every_lexicon) {
  for (const std::string_view collection : {"com.example.note", "app.bsky.feed.post"}) {
    const json record = {{"text", "x"}, {"createdAt", "2026-07-04T14:38:08.000Z"}, {"a", {1.5}}};
    const DecodedJson decoded(collection, record);
    EXPECT_EQ(decoded->invalid_reason, "record: has a floating point number");
    EXPECT_EQ(json::parse(decoded->json), record);
  }
}

TEST(RecordTest, a_float_without_a_fraction_is_still_one) {
  Bytes block;
  repo::CborWriter writer(block);
  writer.map(1);
  writer.string("a");
  writer.floating(2);
  atproto::Document document;
  ASSERT_TRUE(repo::read_dag_cbor(block, document, {.allow_floats = true}));
  const auto decoded = records::decode_record("com.example.note", "any", document);
  EXPECT_EQ(decoded.invalid_reason, "record: has a floating point number");
  EXPECT_EQ(decoded.json, R"({"a":2.0})");
}

TEST(RecordTest, a_limit_of_the_lexicon_breaks_it) {
  const json post = {{"text", std::string(300, 'a')}, {"createdAt", "2026-07-04T14:38:08.000Z"}};
  EXPECT_EQ(DecodedJson("app.bsky.feed.post", post)->invalid_reason, std::nullopt);
  const std::vector<std::tuple<std::string, json, std::string>> limits = {
      {"text", std::string(301, 'a'), "text: more than 300 graphemes"},
      {"langs", {"a", "b", "c", "d"}, "langs: more than 3 items"},
      {"tags", {std::string(65, 'a')}, "tags[0]: more than 64 graphemes"},
      {"embed",
       {{"$type", "app.bsky.embed.video"}, {"video", blob("image/png")}},
       "embed.video.mimeType: not an accepted type"}};
  for (const auto& [field, value, reason] : limits) {
    json beyond = post;
    beyond[field] = value;
    const DecodedJson decoded("app.bsky.feed.post", beyond);
    EXPECT_EQ(decoded->invalid_reason, reason);
    EXPECT_TRUE(std::holds_alternative<std::monostate>(decoded->record));
    EXPECT_EQ(json::parse(decoded->json), beyond);
  }
}

TEST(RecordTest, every_collection_has_a_lexicon) {
  records::for_each_collection([&]<class T>() {
    EXPECT_NO_THROW(lexicon::built_in_record(T::kCollection)) << T::kCollection;
  });
}

TEST(RecordTest, a_record_is_an_object) {
  const DecodedJson decoded("app.bsky.feed.post", json::array({1, 2}));
  EXPECT_EQ(decoded->invalid_reason, "record: must be an object");
  EXPECT_EQ(decoded->json, "[1,2]");
}

TEST(RecordTest, nuls_are_dropped_from_json_and_counted) {
  const std::string text("a\0b\0", 4);
  const json record = {{"$type", "app.bsky.feed.post"},
                       {"text", text},
                       {"createdAt", "2026-07-04T14:38:08.000Z"},
                       {"note", text}};
  const DecodedJson post("app.bsky.feed.post", record);
  ASSERT_FALSE(post->invalid_reason);
  // The writer of a text removes its NULs.
  EXPECT_EQ(std::get<Post>(post->record).text, text);
  EXPECT_EQ(std::get<Post>(post->record).extra, R"({"note":"ab"})");
  EXPECT_EQ(post->nuls_removed, 2U);

  const DecodedJson other("com.example.note", record);
  EXPECT_EQ(json::parse(other->json)["text"], "ab");
  EXPECT_EQ(other->nuls_removed, 4U);
}

/// A post with this field.
json post_with(const std::string& key, const json& value) {
  return {{"$type", "app.bsky.feed.post"},
          {"text", "x"},
          {"createdAt", "2026-07-04T14:38:08.000Z"},
          {key, value}};
}

TEST(RecordTest, a_record_that_json_cannot_hold_keeps_its_block) {
  EXPECT_FALSE(DecodedJson("app.bsky.feed.post", post_with("note", "$1"))->needs_block);
  EXPECT_FALSE(DecodedJson("app.bsky.feed.post", post_with("note", {{"$x", 1}}))->needs_block);
  const std::string nul("a\0b", 3);
  for (const json& odd :
       {post_with("note", nul), post_with(nul, 1), post_with("$cbor", 1), post_with("$avatar", 1),
        post_with("note", 1.5), post_with("note", {{"list", {"$link"}}})}) {
    for (const std::string_view collection : {"app.bsky.feed.post", "com.example.note"}) {
      EXPECT_TRUE(DecodedJson(collection, odd)->needs_block) << odd;
    }
  }
  DecodedJson post("app.bsky.feed.post", post_with("note", nul));
  const std::array<std::uint8_t, 2> block = {1, 2};
  records::keep_block(post.decoded(), block);
  EXPECT_EQ(std::get<Post>(post->record).extra, R"({"note":"ab","$cbor":"AQI="})");
  DecodedJson plain("app.bsky.feed.post", json({{"$type", "app.bsky.feed.post"},
                                                {"text", nul},
                                                {"createdAt", "2026-07-04T14:38:08.000Z"}}));
  records::keep_block(plain.decoded(), block);
  EXPECT_EQ(std::get<Post>(plain->record).extra, R"({"$cbor":"AQI="})");
}

TEST(RecordTest, types_stay_where_they_do_not_follow_from_the_lexicon) {
  json record = {{"$type", "app.bsky.feed.like"},
                 {"subject", strong_ref(uri_of(kDid, "app.bsky.feed.post", "3jquh3dxgi52o"))},
                 {"createdAt", "2026-07-04T14:38:08.000Z"}};
  EXPECT_EQ(Valid<records::Like>(record)->extra, "");
  record["subject"]["$type"] = "com.atproto.repo.strongRef";
  const Valid<records::Like> typed(record);
  EXPECT_EQ(typed->subject->rkey, "3jquh3dxgi52o");
  EXPECT_EQ(json::parse(typed->extra), json({{"subject", record["subject"]}}));
  record["subject"].erase("$type");
  // A CID of a blob does not follow from its digest.
  record["subject"]["cid"] = kBlobCid;
  EXPECT_EQ(json::parse(Valid<records::Like>(record)->extra),
            json({{"subject", record["subject"]}}));
  record["subject"]["cid"] = kCid;
  record.erase("$type");
  EXPECT_EQ(Valid<records::Like>(record)->extra, R"({"$type":null})");
}

TEST(RecordTest, more_fields_than_any_lexicon_has_go_to_extra) {
  json record = {{"$type", "app.bsky.graph.block"},
                 {"subject", kDid},
                 {"createdAt", "2026-07-04T14:38:08.000Z"}};
  json unknown;
  for (int i = 0; i < 500; ++i) unknown["field" + std::to_string(i)] = i;
  record.update(unknown);
  EXPECT_EQ(json::parse(Valid<Block>(record)->extra), unknown);
}

}  // namespace
}  // namespace skua::test::record_test
