// Each collection that has a table: a record at all limits of its lexicon, and one beyond each.

#include <functional>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "lexicon/built_in.hpp"
#include "lexicon/collection_samples.hpp"
#include "lexicon/lexicon_rules.hpp"
#include "records/record.hpp"

namespace skua::test::collections_test {
namespace {

/// A change of the sample of a collection, and the violation that it makes.
struct Change {
  std::string collection;
  std::string pointer;
  json value;
  std::string fault;

  friend std::ostream& operator<<(std::ostream& out, const Change& c) {
    return out << c.collection << ' ' << c.pointer << ' '
               << c.value.dump(-1, ' ', true).substr(0, 100);
  }
};

class CollectionSample : public testing::TestWithParam<CollectionRecord> {};

TEST_P(CollectionSample, is_valid) {
  const auto& [collection, record] = GetParam();
  EXPECT_EQ(violation_of(lexicon::built_in_schema(), collection, record), std::nullopt);
  json with_more = record;
  with_more["more"] = {{"a", 1}};
  with_more["$type"] = collection;
  EXPECT_EQ(violation_of(lexicon::built_in_schema(), collection, with_more), std::nullopt);
}

TEST_P(CollectionSample, lacks_no_required_field) {
  const auto& [collection, record] = GetParam();
  for (const std::string& field : required_fields(collection)) {
    json without = record;
    without.erase(field);
    EXPECT_EQ(violation_of(lexicon::built_in_schema(), collection, without), field + ": missing");
  }
}

std::string name_of_sample(const testing::TestParamInfo<CollectionRecord>& info) {
  std::string name = info.param.collection;
  for (char& c : name) c = c == '.' ? '_' : c;
  return name;
}

INSTANTIATE_TEST_SUITE_P(Own, CollectionSample, testing::ValuesIn(collection_samples()),
                         name_of_sample);

class BeyondLimit : public testing::TestWithParam<Change> {};

TEST_P(BeyondLimit, is_a_violation) {
  const Change& change = GetParam();
  json record;
  for (const auto& sample : collection_samples()) {
    if (sample.collection == change.collection) record = sample.record;
  }
  const json::json_pointer pointer(change.pointer);
  ASSERT_TRUE(record.contains(pointer)) << change;
  record[pointer] = change.value;
  EXPECT_EQ(violation_of(lexicon::built_in_schema(), change.collection, record), change.fault);
}

json with(json value, const char* key, const json& other) {
  value[key] = other;
  return value;
}

json times(std::size_t count, const json& item) {
  return json(std::vector<json>(count, item));
}

/// Beyond a limit of grapheme clusters, but not of ten bytes for each.
std::string long_text(std::size_t graphemes) {
  return repeated("🐦", graphemes + 1);
}

/// The breaches of a text with a limit of `graphemes` and ten bytes for each.
void add_text(std::vector<Change>& all, const std::string& collection, const std::string& field,
              std::size_t graphemes) {
  all.push_back({collection, '/' + field, long_text(graphemes),
                 field + ": more than " + std::to_string(graphemes) + " graphemes"});
  all.push_back({collection, '/' + field, repeated("👨‍👩‍👧‍👧", graphemes),
                 field + ": more than " + std::to_string(graphemes * 10) + " bytes"});
  all.push_back({collection, '/' + field, 7, field + ": must be a string"});
}

void add_avatar(std::vector<Change>& all, const std::string& collection, const std::string& field) {
  all.push_back(
      {collection, '/' + field, blob("image/gif", 1), field + ".mimeType: not an accepted type"});
  all.push_back({collection, '/' + field, blob("image/png", 1'000'001),
                 field + ".size: more than 1000000 bytes"});
}

std::vector<Change> changes() {
  const std::string post = "app.bsky.feed.post";
  const std::string labels = "com.atproto.label.defs#selfLabels";
  const json label = {{"val", "a"}};
  std::vector<Change> all = {
      {post, "/langs", times(4, "en"), "langs: more than 3 items"},
      {post, "/langs/0", "JA", "langs[0]: not a language tag"},
      {post, "/tags", times(9, "a"), "tags: more than 8 items"},
      {post, "/tags/0", long_text(64), "tags[0]: more than 64 graphemes"},
      {post, "/labels/values", times(11, label), "labels.values: more than 10 items"},
      {post, "/labels/values/0/val", repeated("a", 129),
       "labels.values[0].val: more than 128 bytes"},
      {post, "/facets/0/index/byteStart", -1, "facets[0].index.byteStart: less than 0"},
      {post, "/facets/0/features/0/tag", long_text(64),
       "facets[0].features[0].tag: more than 64 graphemes"},
      {post, "/entities/0/index/start", -1, "entities[0].index.start: less than 0"},
      {post, "/embed/media/images", times(5, {{"image", blob()}, {"alt", ""}}),
       "embed.media.images: more than 4 items"},
      {post, "/embed/media/images/0/image", blob("video/mp4"),
       "embed.media.images[0].image.mimeType: not an accepted type"},
      {post, "/embed/media/images/0/image", blob("image/png", 2'000'001),
       "embed.media.images[0].image.size: more than 2000000 bytes"},
      {post, "/embed/media/images/0/aspectRatio/width", 0,
       "embed.media.images[0].aspectRatio.width: less than 1"},
      {post, "/embed", gallery(21), "embed.items: more than 20 items"},
      {post, "/embed", video("video/webm", 1), "embed.video.mimeType: not an accepted type"},
      {post, "/embed", video("video/mp4", 300'000'001),
       "embed.video.size: more than 300000000 bytes"},
      {post, "/embed", with(video("video/mp4", 1), "captions", times(21, caption("en"))),
       "embed.captions: more than 20 items"},
      {post, "/embed", with(video("video/mp4", 1), "captions", json::array({caption("EN")})),
       "embed.captions[0].lang: not a language tag"},
      {post, "/embed",
       with(video("video/mp4", 1), "captions", json::array({caption("en", 20'001)})),
       "embed.captions[0].file.size: more than 20000 bytes"},
      {post, "/embed", external(blob("image/png", 1'000'001)),
       "embed.external.thumb.size: more than 1000000 bytes"},
      {post, "/reply/root/uri", "https://a.example", "reply.root.uri: not an AT-URI"},
      {"app.bsky.feed.like", "/subject/cid", "bafy", "subject.cid: not a CID"},
      {"app.bsky.feed.like", "/via", "a", "via: must be an object"},
      {"app.bsky.feed.repost", "/via/uri", "a", "via.uri: not an AT-URI"},
      {"app.bsky.feed.threadgate", "/allow",
       times(6, {{"$type", "app.bsky.feed.threadgate#mentionRule"}}), "allow: more than 5 items"},
      {"app.bsky.feed.threadgate", "/allow/0/list", "a", "allow[0].list: not an AT-URI"},
      {"app.bsky.feed.threadgate", "/hiddenReplies", times(301, kUri),
       "hiddenReplies: more than 300 items"},
      {"app.bsky.feed.postgate", "/embeddingRules",
       times(6, {{"$type", "app.bsky.feed.postgate#disableRule"}}),
       "embeddingRules: more than 5 items"},
      {"app.bsky.feed.postgate", "/detachedEmbeddingUris", times(51, kUri),
       "detachedEmbeddingUris: more than 50 items"},
      {"app.bsky.feed.generator", "/did", "alice.example", "did: not a DID"},
      {"app.bsky.graph.follow", "/subject", "alice.example", "subject: not a DID"},
      {"app.bsky.graph.follow", "/via", {{"uri", kUri}}, "via.cid: missing"},
      {"app.bsky.graph.block", "/createdAt", "today", "createdAt: not a datetime"},
      {"app.bsky.graph.list", "/name", "", "name: fewer than 1 bytes"},
      {"app.bsky.graph.list", "/name", repeated("a", 65), "name: more than 64 bytes"},
      {"app.bsky.graph.list", "/purpose", 1, "purpose: must be a string"},
      {"app.bsky.graph.listitem", "/list", "a", "list: not an AT-URI"},
      {"app.bsky.graph.listblock", "/subject", kDid, "subject: not an AT-URI"},
      {"app.bsky.graph.starterpack", "/name", "", "name: fewer than 1 bytes"},
      {"app.bsky.graph.starterpack", "/feeds", times(4, {{"uri", kUri}}),
       "feeds: more than 3 items"},
      {"app.bsky.graph.verification", "/handle", "alice", "handle: not a handle"},
      {"app.bsky.actor.profile", "/website", "a.example", "website: not a URI"},
      {"app.bsky.actor.status", "/durationMinutes", 0, "durationMinutes: less than 1"},
      {"app.bsky.actor.status", "/embed/external/uri", "a", "embed.external.uri: not a URI"},
      {"chat.bsky.actor.declaration", "/allowIncoming", true, "allowIncoming: must be a string"},
      {"app.bsky.notification.declaration", "/allowSubscriptions", 1,
       "allowSubscriptions: must be a string"},
      {"com.germnetwork.declaration", "/currentKey", "AQID", "currentKey: must be bytes"},
      {"app.bsky.actor.contentVisibilityDeclaration", "/hideFromAlgorithmicRecommendations", "yes",
       "hideFromAlgorithmicRecommendations: must be a boolean"},
      {"app.bsky.labeler.service", "/subjectCollections/0", "post",
       "subjectCollections[0]: not an NSID"},
      {"app.bsky.labeler.service", "/policies/labelValueDefinitions/0/identifier",
       repeated("a", 101), "policies.labelValueDefinitions[0].identifier: more than 100 bytes"},
      {"app.bsky.labeler.service", "/policies/labelValueDefinitions/0/locales/0/lang", "english!",
       "policies.labelValueDefinitions[0].locales[0].lang: not a language tag"}};
  add_text(all, post, "text", 300);
  add_text(all, "app.bsky.feed.generator", "displayName", 24);
  add_text(all, "app.bsky.graph.starterpack", "name", 50);
  add_text(all, "app.bsky.actor.profile", "displayName", 64);
  add_text(all, "app.bsky.actor.profile", "description", 256);
  add_text(all, "app.bsky.actor.profile", "pronouns", 20);
  add_avatar(all, "app.bsky.actor.profile", "banner");
  add_avatar(all, "app.bsky.actor.profile", "avatar");
  for (const char* collection : {"app.bsky.feed.generator", "app.bsky.graph.list"}) {
    add_text(all, collection, "description", 300);
    add_avatar(all, collection, "avatar");
  }
  add_text(all, "app.bsky.graph.starterpack", "description", 300);
  return all;
}

INSTANTIATE_TEST_SUITE_P(Own, BeyondLimit, testing::ValuesIn(changes()));

TEST(CollectionsTest, all_have_samples_and_changes) {
  std::set<std::string> samples;
  for (const auto& sample : collection_samples()) samples.insert(sample.collection);
  EXPECT_EQ(samples.size(), records::kTypedCollections);
  for (const Change& change : changes()) samples.erase(change.collection);
  EXPECT_EQ(samples, std::set<std::string>{});
}

}  // namespace
}  // namespace skua::test::collections_test
