#include "records/post_content.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "ids/resolver.hpp"
#include "records/record.hpp"
#include "support/made_events.hpp"
#include "support/manual_clock.hpp"
#include "support/postgres.hpp"
#include "writer/table_writer.hpp"

namespace skua::writer::post_content_test {
namespace {

using nlohmann::json;
using test::made_post;
using test::made_write;

/// The columns of a post that follow from its content, with DIDs in place of account numbers.
constexpr const char* kColumns =
    "concat_ws('|', p.rkey, (SELECT array_agg(a.did ORDER BY m.place)::text FROM "
    "unnest(p.mentions) WITH ORDINALITY AS m(id, place) JOIN bsky.actors AS a ON a.id = m.id), "
    "coalesce(p.all_tags::text, '-'), coalesce(p.links::text, '-'), coalesce(p.link_hosts::text, "
    "'-'), coalesce(p.images_without_alt::text, '-'), coalesce(p.has_video::text, '-'))";

json feature(const std::string& kind, const std::string& key, const std::string& value) {
  return {{"$type", "app.bsky.richtext.facet#" + kind}, {key, value}};
}

json with_features(const std::vector<json>& features) {
  json post = made_post("words");
  post["facets"] = json::array();
  for (const json& one : features) {
    post["facets"].push_back(
        {{"index", {{"byteStart", 0}, {"byteEnd", 4}}}, {"features", json::array({one})}});
  }
  return post;
}

json with_embed(const json& embed) {
  json post = made_post("words");
  post["embed"] = embed;
  return post;
}

json blob(const std::string& content, const std::string& mime_type) {
  const std::string link = atproto::Cid::of(as_bytes(content), atproto::Cid::kRaw).to_string();
  return {{"$type", "blob"}, {"ref", {{"$link", link}}}, {"mimeType", mime_type}, {"size", 99}};
}

json image(const std::string& alt) {
  return {{"alt", alt}, {"image", blob(alt, "image/png")}};
}

/// 640 bytes in 64 grapheme clusters: the longest tag that the lexicon allows.
std::string longest_tag() {
  std::string tag;
  for (int i = 0; i < 64; ++i) tag += "\u00c4\u0301\u0301\u0301\u0301";
  return tag;
}

std::vector<json> posts() {
  const std::string nul(1, '\0');
  const json card = {
      {"$type", "app.bsky.embed.external"},
      {"external", {{"uri", "https://Card.test/a"}, {"title", "a"}, {"description", "b"}}}};
  json item = image("");
  item["$type"] = "app.bsky.embed.gallery#image";
  item["aspectRatio"] = {{"width", 4}, {"height", 3}};
  const json gallery = {{"$type", "app.bsky.embed.gallery"},
                        {"items", json::array({item, {{"$type", "com.example.thing"}}})}};
  const json quote = {{"$type", "app.bsky.embed.record"},
                      {"record",
                       {{"uri", "at://did:plc:other/app.bsky.feed.post/3l2s5xxv2ze2d"},
                        {"cid", atproto::Cid::of(as_bytes("quoted")).to_string()}}}};
  const json video = {{"$type", "app.bsky.embed.video"}, {"video", blob("", "video/mp4")}};
  std::vector<json> all = {
      made_post("plain"),
      with_embed(quote),
      with_embed(card),
      with_embed(gallery),
      with_embed(video),
      with_embed({{"$type", "app.bsky.embed.images"},
                  {"images", json::array({image(""), image("a bird"), image(nul)})}}),
      with_embed(
          {{"$type", "app.bsky.embed.recordWithMedia"}, {"record", quote}, {"media", video}}),
      with_embed({{"$type", "app.bsky.embed.recordWithMedia"}, {"record", quote}, {"media", card}}),
      with_embed({{"$type", "com.example.embed"}, {"images", 5}})};
  json tags = with_features({feature("tag", "tag", "B\u00c4R"), feature("tag", "tag", "##b\u00e4r"),
                             feature("tag", "tag", nul + "#" + nul + "x"),
                             feature("tag", "tag", "\"q\" {\\}"), feature("tag", "tag", "#"),
                             feature("tag", "tag", longest_tag())});
  tags["tags"] = {"Later", "x", "\u0391"};
  tags["embed"] = card;
  all.push_back(tags);
  json field = made_post("words");
  field["tags"] = json::array({"Only"});
  all.push_back(field);
  std::vector<json> many;
  for (int i = 60; i > 0; --i) {
    const std::string n = std::to_string(i);
    many.push_back(feature("tag", "tag", "T" + n));
    many.push_back(feature("mention", "did", "did:plc:n" + n));
    many.push_back(feature("mention", "did", "did:plc:n" + n));
    many.push_back(feature("link", "uri", "https://u@H" + n + ".test:8/"));
  }
  all.push_back(with_features(many));
  all.push_back(with_features({feature("link", "uri", "mailto:a@b.test"),
                               feature("link", "uri", "https://[::A]/\\x"),
                               feature("link", "uri", "https://" + std::string(300, 'a')),
                               feature("link", "uri", "https://b/" + std::string(2038, 'a')),
                               feature("link", "uri", "https://c/" + std::string(2039, 'a')),
                               feature("other", "uri", "https://other.test")}));
  return all;
}

class PostContentTest : public testing::Test {
 protected:
  void SetUp() override { SKUA_NEED_POSTGRES(); }

  postgres::Session& session() {
    if (!session_) session_ = std::make_unique<postgres::Session>(database_.url(), "test");
    return *session_;
  }

  static std::string value(postgres::Session& session, const std::string& sql) {
    const postgres::Rows rows = session.run(sql);
    return rows.empty() || rows.is_null(0, 0) ? "" : std::string(rows.text(0, 0));
  }

  std::vector<event::ResolvedEvent> resolved(const std::string& did, std::uint64_t rev) {
    std::vector<event::ResolvedEvent> batch;
    std::uint64_t key = 0;
    for (const json& post : posts()) {
      batch.push_back(
          {made_write(did, "app.bsky.feed.post", atproto::Tid{++key}.to_string(), rev, post)});
      EXPECT_EQ(batch.back().record().invalid_reason, std::nullopt) << post.dump();
    }
    EXPECT_TRUE(ids::Resolver(session(), ids_, clock_).resolve(batch).empty());
    return batch;
  }

  std::string columns_of(const std::string& did) {
    return value(session(),
                 fmt::format("SELECT string_agg({}, E'\\n' ORDER BY p.rkey) FROM "
                             "bsky.posts AS p WHERE p.actor_id = bsky.actor_id('{}') AND "
                             "p.cid IS NOT NULL",
                             kColumns, did));
  }

  static const TableWriter& table() { return *table_of(records::Post::kCollectionId); }

  test::Database database_;
  std::unique_ptr<postgres::Session> session_;
  ids::SharedIds ids_;
  test::ManualClock clock_;
  Effects effects_;
};

TEST_F(PostContentTest, the_database_computes_the_same_tags_and_hosts) {
  // Each letter, in one text for each 256 of them.
  const postgres::Rows rows = session().run(
      "SELECT t, bsky.normal_tag(t) FROM (SELECT string_agg(chr(c), '' ORDER BY c) AS t FROM "
      "generate_series(1, 1114111) AS c WHERE c NOT BETWEEN 55296 AND 57343 GROUP BY c / 256) AS "
      "s");
  ASSERT_GT(rows.size(), 4000U);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    ASSERT_EQ(records::normal_tag(rows.text(i, 0)), rows.text(i, 1));
  }
  for (const std::string uri :
       {"https://A.test", "HTTPS://a.TEST/x@y", "http://u:p@w@a.test:80?x", "https://a\\@b",
        "https://[::F]:1", "https://[::", "https://:1", "https://a[b", "https://\u00c4.test",
        "ftp://a", "https:a", "xhttps://a", "https://"}) {
    postgres::Params params;
    params.text(uri);
    const postgres::Rows host =
        session().execute({"host", "SELECT coalesce(bsky.link_host($1::text), '')"}, params);
    EXPECT_EQ(records::link_host(uri), host.text(0, 0)) << uri;
  }
}

TEST_F(PostContentTest, each_way_of_writing_gives_the_same_columns) {
  const auto live = resolved("did:plc:live", 5);
  table().upsert(session(), test::pointers_to(live), clock_.now(), effects_);
  const std::string wanted = columns_of("did:plc:live");
  EXPECT_NE(wanted.find("{did:plc:n60,did:plc:n59,"), std::string::npos) << wanted;
  EXPECT_NE(wanted.find("|{https://Card.test/a}|{card.test}|"), std::string::npos) << wanted;

  const auto copied = resolved("did:plc:copied", 5);
  table().copy(session(), test::pointers_to(copied), clock_.now(), effects_);
  EXPECT_EQ(columns_of("did:plc:copied"), wanted);

  const auto merged = resolved("did:plc:merged", 5);
  {
    postgres::Transaction transaction(session());
    table().merge(session(), test::pointers_to(merged), {}, clock_.now(), effects_);
    transaction.commit();
  }
  EXPECT_EQ(columns_of("did:plc:merged"), wanted);

  // A repetition changes nothing, and an update replaces the columns.
  EXPECT_EQ(table().upsert(session(), test::pointers_to(live), clock_.now(), effects_), 0U);
  EXPECT_EQ(columns_of("did:plc:live"), wanted);
  std::vector<event::ResolvedEvent> plain;
  plain.push_back({made_write("did:plc:live", "app.bsky.feed.post", atproto::Tid{10}.to_string(), 6,
                              made_post("plain"))});
  ids::Resolver(session(), ids_, clock_).resolve(plain);
  EXPECT_EQ(table().upsert(session(), test::pointers_to(plain), clock_.now(), effects_), 1U);
  EXPECT_EQ(value(session(), fmt::format("SELECT {} FROM bsky.posts AS p WHERE rkey = 10 AND rev = "
                                         "6",
                                         kColumns)),
            "10|-|-|-|-|-");
}

TEST_F(PostContentTest, views_have_a_row_for_each_value) {
  const auto written = resolved("did:plc:author", 5);
  table().upsert(session(), test::pointers_to(written), clock_.now(), effects_);
  EXPECT_EQ(value(session(),
                  "SELECT string_agg(tag, ',' ORDER BY tag) FROM bsky.post_tags WHERE "
                  "rkey = 11"),
            "only");
  EXPECT_EQ(value(session(),
                  "SELECT string_agg(concat_ws(' ', link, host), ',') FROM "
                  "bsky.post_links WHERE rkey = 3"),
            "https://Card.test/a card.test");
  EXPECT_EQ(value(session(), "SELECT count(*) FROM bsky.post_mentions WHERE rkey = 12"), "20");
  EXPECT_EQ(
      value(session(),
            "SELECT count(*) FROM bsky.posts WHERE bsky.record_json(posts) ?| "
            "ARRAY['mentions', 'allTags', 'links', 'linkHosts', 'hasVideo', 'imagesWithoutAlt']"),
      "0");
}

}  // namespace
}  // namespace skua::writer::post_content_test
