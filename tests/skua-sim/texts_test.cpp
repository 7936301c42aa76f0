#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "atproto/syntax.hpp"
#include "base/text.hpp"
#include "event/frame_decoder.hpp"
#include "skua-sim/heard_network.hpp"
#include "world/language.hpp"

namespace skua::sim::texts_test {
namespace {

using test_cases::HeardNetwork;
using test_cases::small_settings;

constexpr int kSamples = 2'000;

TEST(Phrases, a_section_contains_earlier_sections_and_the_topic) {
  Phrases phrases;
  phrases.add("# a comment\n[place]\npark\n\n[post]\n{Topic} in the {place}, {topic}!\n");
  Random random(1);
  EXPECT_EQ(phrases.make(phrases.section("post"), random, "tea"), "Tea in the park, tea!");
  EXPECT_EQ(phrases.make(phrases.section("post"), random, "\u00e9t\u00e9"),
            "\u00e9t\u00e9 in the park, \u00e9t\u00e9!");
}

TEST(Phrases, a_number_has_at_most_two_digits) {
  Phrases phrases;
  phrases.add("[n]\n{number}\n");
  Random random(1);
  std::set<int> numbers;
  for (int i = 0; i < kSamples; ++i) {
    numbers.insert(std::stoi(phrases.make(phrases.section("n"), random, "")));
  }
  EXPECT_EQ(*numbers.begin(), 2);
  EXPECT_EQ(*numbers.rbegin(), 99);
}

TEST(Phrases, a_malformed_file_is_refused) {
  for (const char* text : {"no section\n", "[a]\n{later}\n[later]\nx\n", "[a]\nx\n{a}\n",
                           "[a]\nx\n[a]\ny\n", "[a]\n{topic\n", "[a]\n[b]\n{a}\n"}) {
    Phrases phrases;
    EXPECT_THROW(phrases.add(text), std::logic_error) << text;
  }
  Phrases phrases;
  phrases.add("[empty]\n");
  EXPECT_THROW(phrases.section("empty"), std::logic_error);
  EXPECT_THROW(phrases.section("missing"), std::logic_error);
}

TEST(Languages, have_their_tags_and_texts) {
  std::set<std::string> tags;
  for (const Language& language : languages()) tags.insert(language.tag());
  for (const char* tag : {"en", "pt-BR", "ja", "de", "es", "fr", "ar"}) {
    EXPECT_TRUE(tags.contains(tag)) << tag;
  }
  for (const std::string& tag : tags) EXPECT_TRUE(atproto::is_language_tag(tag)) << tag;
  EXPECT_THROW(Language("[emoji]\nx\n", {"xx", "tag: xx\nshare: 1\n[topic]\ntea\n[post]\nx\n"}),
               std::logic_error);
}

/// The limits of the lexicons: `bytes`, and `characters` for graphemes, which are not more.
struct Limit {
  std::size_t bytes;
  std::size_t characters;
};

Limit limit_of(Text kind) {
  switch (kind) {
    case Text::list:
      return {64, 64};
    case Text::feed:
      return {240, 24};
    case Text::pack:
      return {500, 50};
    case Text::name:
      return {640, 64};
    case Text::biography:
      return {2560, 256};
    case Text::post:
    case Text::more:
    case Text::reply:
    case Text::quote:  // two of them, mentions and links are at most 300
      return {1000, 100};
    default:  // with mentions and links at most 300
      return {2560, 200};
  }
}

std::size_t characters_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char byte) { return (byte & 0xc0) != 0x80; }));
}

TEST(Languages, texts_are_within_the_limits) {
  Random random(1);
  for (const Language& language : languages()) {
    for (std::size_t kind = 0; kind < kTextNames.size(); ++kind) {
      const Limit limit = limit_of(static_cast<Text>(kind));
      for (int i = 0; i < kSamples; ++i) {
        const std::string text =
            language.make(static_cast<Text>(kind), random, random.below(language.topics()));
        ASSERT_FALSE(text.empty());
        ASSERT_TRUE(is_utf8(text)) << text;
        ASSERT_EQ(text.find_first_of("{}[]\n"), std::string::npos) << text;
        ASSERT_LE(text.size(), limit.bytes) << text;
        ASSERT_LE(characters_of(text), limit.characters) << kTextNames[kind] << ": " << text;
      }
    }
    for (std::size_t topic = 0; topic < language.topics(); ++topic) {
      EXPECT_EQ(language.hashtag(topic).find(' '), std::string::npos) << language.hashtag(topic);
    }
  }
}

TEST(Names, are_parts_of_handles_and_differ) {
  Random random(1);
  std::set<std::string> names;
  for (int i = 0; i < kSamples; ++i) {
    const std::string name = random_name(random);
    EXPECT_TRUE(atproto::is_handle(name + ".host1.test")) << name;
    names.insert(name);
  }
  EXPECT_GT(names.size(), kSamples * 0.95);
}

TEST(Names, web_addresses_have_the_reserved_domain) {
  Random random(1);
  for (int i = 0; i < kSamples; ++i) {
    const std::string link = random_link(random);
    EXPECT_TRUE(atproto::is_uri(link)) << link;
    const std::size_t path = link.find('/', 8);
    EXPECT_TRUE(link.substr(0, path).ends_with(".example")) << link;
  }
}

TEST(Themes, follow_from_the_first_post_of_a_thread) {
  const std::string did = "did:plc:ewvi7nxzyoun6zhxrhs64oiz";
  std::map<std::size_t, int> topics;
  for (int i = 0; i < kSamples; ++i) {
    const std::string root = "at://" + did + "/app.bsky.feed.post/" + std::to_string(i);
    const Theme theme = theme_of_thread(root);
    EXPECT_EQ(theme.language, &language_of_account(did));
    EXPECT_EQ(theme.topic, theme_of_thread(root).topic);
    ++topics[theme.topic];
  }
  EXPECT_GT(topics[theme_of_account(did).topic], kSamples * 0.4);
  EXPECT_EQ(topics.size(), language_of_account(did).topics());
  EXPECT_EQ(display_name_of(did), display_name_of(did));
}

TEST(Themes, posts_have_the_language_of_their_thread) {
  NetworkSettings settings = small_settings(9);
  settings.oddities = 0;
  settings.accounts = 40;
  HeardNetwork network(settings);
  network.steps(4'000);
  event::FrameDecoder decoder;
  std::size_t posts = 0;
  std::size_t replies = 0;
  std::size_t own_language = 0;
  std::set<std::string> texts;
  for (std::size_t i = 0; i < network.heard().size(); ++i) {
    event::DecodedFrame frame;
    ASSERT_TRUE(decoder.decode(network.frame(i), frame));
    for (const auto& event : frame.events) {
      const auto* change = std::get_if<event::RecordChange>(&event.body);
      if (change == nullptr) continue;
      const auto* post = std::get_if<records::Post>(&change->record.record);
      if (post == nullptr || !post->langs) continue;
      ++posts;
      texts.insert(std::string(post->text));
      std::string root = "at://" + frame.did + "/app.bsky.feed.post/" + std::string(change->rkey);
      if (post->root) {
        ++replies;
        root = "at://" + std::string(post->root->did) + "/app.bsky.feed.post/" +
               std::string(post->root->rkey);
      }
      const Language& language = *theme_of_thread(root).language;
      EXPECT_EQ(post->langs->front(), language.tag()) << post->text;
      if (&language == &language_of_account(frame.did)) ++own_language;
    }
  }
  EXPECT_GT(replies, posts / 3);
  EXPECT_GT(own_language, posts * 7 / 10);
  EXPECT_GT(texts.size(), posts * 6 / 10);
}

}  // namespace
}  // namespace skua::sim::texts_test
