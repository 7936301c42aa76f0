#include "records/post_content.hpp"

#include <string>
#include <vector>

#include "records/post.hpp"
#include "records/record_rules.hpp"

namespace skua::test::post_content_test {
namespace {

using records::Post;
using records::TextList;
using Texts = std::vector<std::string>;

json post_with(const json& features, const json& tags = nullptr, const json& embed = nullptr) {
  json record = {{"$type", "app.bsky.feed.post"},
                 {"text", "h\u00e9"},
                 {"createdAt", "2026-07-04T14:38:08.000Z"}};
  record["facets"] =
      json::array({{{"index", {{"byteStart", 0}, {"byteEnd", 5}}}, {"features", features}}});
  if (!tags.is_null()) record["tags"] = tags;
  if (!embed.is_null()) record["embed"] = embed;
  return record;
}

json tag(const std::string& text) {
  return {{"$type", "app.bsky.richtext.facet#tag"}, {"tag", text}};
}

json link(const std::string& uri) {
  return {{"$type", "app.bsky.richtext.facet#link"}, {"uri", uri}};
}

json mention(const std::string& did) {
  return {{"$type", "app.bsky.richtext.facet#mention"}, {"did", did}};
}

json card(const std::string& uri) {
  return {{"$type", "app.bsky.embed.external"},
          {"external", {{"uri", uri}, {"title", ""}, {"description", ""}}}};
}

json images(const std::vector<std::string>& alts) {
  json list = json::array();
  for (const std::string& alt : alts) list.push_back({{"image", blob()}, {"alt", alt}});
  return {{"$type", "app.bsky.embed.images"}, {"images", list}};
}

json with_record(const json& media) {
  return {{"$type", "app.bsky.embed.recordWithMedia"},
          {"record",
           {{"$type", "app.bsky.embed.record"},
            {"record", strong_ref(uri_of(kDid, "app.bsky.feed.post", "3jquh3dxgi52o"))}}},
          {"media", media}};
}

Texts mentions_of(const Post& post) {
  Texts dids;
  for (const auto& mentioned : post.mentions) dids.emplace_back(mentioned.did);
  return dids;
}

TEST(NormalTagTest, has_no_sign_no_nul_and_no_capitals) {
  EXPECT_EQ(records::normal_tag("Art"), "art");
  EXPECT_EQ(records::normal_tag("##Art#1"), "art#1");
  EXPECT_EQ(records::normal_tag(std::string("\0#\0A\0b", 6)), "ab");
  EXPECT_EQ(records::normal_tag("###"), "");
  EXPECT_EQ(records::normal_tag("\u00c4\u00d7\u1e9e \u0178"), "\u00e4\u00d7\u00df \u00ff");
  EXPECT_EQ(records::normal_tag("\u03a3\u0391\u03c2"), "\u03c3\u03b1\u03c3");
  EXPECT_EQ(records::normal_tag("\u041f\u0440\u0418\u0401"), "\u043f\u0440\u0438\u0451");
  EXPECT_EQ(records::normal_tag("\u0541\uff21"), "\u0571\uff41");
  EXPECT_EQ(records::normal_tag("\u0130\u65e5\U0001f600"), "\u0130\u65e5\U0001f600");
}

TEST(NormalTagTest, keeps_bytes_that_are_not_utf8) {
  for (const std::string bytes : {"\xc3", "\xe1\xba", "\xff\xfe", "\x80", "\xc3\x28", "\xf0\x9f"}) {
    EXPECT_EQ(records::normal_tag(bytes), bytes);
  }
}

TEST(LinkHostTest, is_the_host_of_a_web_address) {
  const std::vector<std::pair<std::string, std::string>> hosts = {
      {"https://Example.COM/Path", "example.com"},
      {"HTTP://example.com", "example.com"},
      {"https://example.com:8443?q", "example.com"},
      {"https://user:pass@word@example.com#f", "example.com"},
      {"https://evil.example\\@good.example", "evil.example"},
      {"https://[2001:DB8::1]:80/", "[2001:db8::1]"},
      {"https://[2001:db8::1", ""},
      {"https://B\u00dcCHER.example/", "b\u00dccher.example"},
      {"https://example.com./", "example.com."},
      {"https://:80/", ""},
      {"https://?", ""},
      {"https:example.com", ""},
      {"ftp://example.com/", ""},
      {"at://did:plc:a/b", ""},
      {"", ""},
      {"https://" + std::string(253, 'A') + "/", std::string(253, 'a')},
      {"https://" + std::string(254, 'a') + "/", ""}};
  for (const auto& [uri, host] : hosts) EXPECT_EQ(records::link_host(uri), host) << uri;
}

TEST(PostContentTest, has_tags_of_the_text_and_of_the_field) {
  const Valid<Post> post(
      post_with({tag("Zoo"), tag("#art"), tag("ART"), tag("#"), tag("")}, {"b", "Art", "#B"}));
  EXPECT_EQ(post->all_tags, (Texts{"zoo", "art", "b"}));
  EXPECT_EQ(post->tags, (TextList{"b", "Art", "#B"}));
}

TEST(PostContentTest, has_links_of_the_text_and_of_the_card) {
  const Valid<Post> post(post_with({link("https://A.example/x"), link("mailto:a@a.example"),
                                    link("https://A.example/x"), link("https://a.example/y")},
                                   nullptr, card("http://b.example")));
  EXPECT_EQ(post->links, (TextList{"https://A.example/x", "mailto:a@a.example",
                                   "https://a.example/y", "http://b.example"}));
  EXPECT_EQ(post->link_hosts, (Texts{"a.example", "b.example"}));
}

TEST(PostContentTest, mentions_each_account_once_and_refers_to_it) {
  Valid<Post> post(post_with({mention(std::string(kOtherDid)), mention(std::string(kDid)),
                              mention(std::string(kOtherDid))}));
  EXPECT_EQ(mentions_of(*post), (Texts{std::string(kOtherDid), std::string(kDid)}));
  EXPECT_EQ(references_of(post.decoded().record), mentions_of(*post));
}

TEST(PostContentTest, counts_images_without_alt) {
  const auto count = [](const json& embed) {
    return Valid<Post>(post_with(json::array(), nullptr, embed))->images_without_alt;
  };
  EXPECT_EQ(count(images({"", "a bird", ""})), 2);
  EXPECT_EQ(count(images({"a bird"})), 0);
  EXPECT_EQ(count(with_record(images({std::string(1, '\0')}))), 1);
  EXPECT_EQ(count(images({})), std::nullopt);
  EXPECT_EQ(count(card("https://a.example")), std::nullopt);
}

TEST(PostContentTest, knows_a_video) {
  const json video = {{"$type", "app.bsky.embed.video"}, {"video", blob("video/mp4")}};
  EXPECT_EQ(Valid<Post>(post_with(json::array(), nullptr, video))->has_video, true);
  EXPECT_EQ(Valid<Post>(post_with(json::array(), nullptr, with_record(video)))->has_video, true);
  EXPECT_EQ(Valid<Post>(post_with(json::array(), nullptr, images({""})))->has_video, std::nullopt);
}

TEST(PostContentTest, has_a_limited_number_of_values_of_limited_length) {
  json features = json::array();
  for (int i = 0; i < 100; ++i) {
    features.push_back(link("https://a" + std::to_string(i) + ".example"));
    features.push_back(mention("did:plc:a" + std::to_string(i)));
    features.push_back(tag("tag" + std::to_string(i)));
  }
  const Valid<Post> post(post_with(features, {"tag of the field"}));
  EXPECT_EQ(post->all_tags.size(), 50U);
  EXPECT_EQ(post->all_tags[49], "tag49");
  EXPECT_EQ(post->links.size(), 50U);
  EXPECT_EQ(post->link_hosts.size(), 50U);
  EXPECT_EQ(post->mentions.size(), 20U);
  EXPECT_EQ(post->mentions[19].did, "did:plc:a19");
}

TEST(PostContentTest, leaves_out_long_links) {
  const std::string longest = "https://a.example/" + std::string(2030, 'x');
  const Valid<Post> post(post_with({link(longest + "y"), link(longest)}));
  EXPECT_EQ(post->links, TextList{longest});
}

TEST(PostContentTest, does_not_depend_on_the_ranges_of_facets) {
  json record = post_with({tag("a"), link("https://a.example")});
  for (const auto& [start, end] :
       std::vector<std::pair<std::int64_t, std::int64_t>>{{2, 3}, {0, 99}, {5, 0}, {1, 2}}) {
    record["facets"][0]["index"] = {{"byteStart", start}, {"byteEnd", end}};
    const Valid<Post> post(record);
    EXPECT_EQ(post->all_tags, Texts{"a"});
    EXPECT_EQ(post->links, TextList{"https://a.example"});
  }
}

}  // namespace
}  // namespace skua::test::post_content_test
