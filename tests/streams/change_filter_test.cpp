#include "streams/change_filter.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace skua::streams::change_filter_test {
namespace {

ChangeEvent event_of(const std::string& kind, const std::string& op, const std::string& did,
                     const std::string& collection = {}) {
  ChangeEvent event;
  event.kind = kind;
  event.op = op;
  event.did = did;
  event.collection = collection;
  return event;
}

const ChangeEvent kPost = event_of("record", "create", "did:plc:a", "app.bsky.feed.post");
const ChangeEvent kFollow = event_of("record", "delete", "did:plc:b", "app.bsky.graph.follow");
const ChangeEvent kAccount = event_of("account", "update", "did:plc:a");
const ChangeEvent kBootstrap = event_of("bootstrap", "create", "");

/// Which of the four events pass, as letters.
std::string passing(const ChangeFilter& filter) {
  std::string letters;
  if (filter.passes(kPost)) letters += 'p';
  if (filter.passes(kFollow)) letters += 'f';
  if (filter.passes(kAccount)) letters += 'a';
  if (filter.passes(kBootstrap)) letters += 'b';
  return letters;
}

TEST(ChangeFilterTest, without_conditions_everything_passes) {
  EXPECT_EQ(passing({}), "pfab");
}

TEST(ChangeFilterTest, each_condition) {
  const std::vector<std::string> feed{"app.bsky.feed.*"};
  EXPECT_EQ(passing({.collections = *parse_collections(feed, 1)}), "pab");
  EXPECT_EQ(passing({.dids = {"did:plc:b", "did:plc:c"}}), "fb");
  EXPECT_EQ(passing({.ops = {"create"}}), "pb");
  EXPECT_EQ(passing({.kinds = {"record"}}), "pf");
  EXPECT_EQ(passing({.collections = *parse_collections(feed, 1), .kinds = {"record"}}), "p");
}

ChangeEvent message_of(const std::string& topic) {
  ChangeEvent event = event_of("message", "create", "");
  event.topic = topic;
  return event;
}

/// Which of the four events and of two messages pass: o and i are those of orders and invoices.
std::string passing_texts(const FilterTexts& texts) {
  const auto filter = parse_change_filter(texts, {.patterns = 9, .accounts = 9});
  if (!filter) return filter.error();
  std::string letters = passing(*filter);
  if (filter->passes(message_of("orders"))) letters += 'o';
  if (filter->passes(message_of("invoices"))) letters += 'i';
  return letters;
}

TEST(ChangeFilterTest, messages_pass_only_if_they_are_chosen) {
  using Texts = FilterTexts;
  EXPECT_EQ(passing_texts(Texts{}), "pfab");
  EXPECT_EQ(passing_texts(Texts{.ops = {"create"}}), "pb");
  EXPECT_EQ(passing_texts(Texts{.topics = {"orders"}}), "o");
  EXPECT_EQ(passing_texts(Texts{.kinds = {"message"}}), "oi");
  EXPECT_EQ(passing_texts(Texts{.dids = {"did:plc:a"}, .topics = {"orders", "invoices"}}), "oi");
  EXPECT_EQ(passing_texts(Texts{.collections = {"app.bsky.feed.post"}, .topics = {"orders"}}),
            "po");
  EXPECT_EQ(passing_texts(Texts{.kinds = {"message", "account"}, .topics = {"invoices"}}), "ai");
  EXPECT_EQ(passing_texts(Texts{.ops = {"delete"}, .topics = {"orders"}}), "");
  EXPECT_EQ(passing_texts(Texts{.kinds = {"record"}, .topics = {"orders"}}),
            "a topic needs the kind message");
  for (const char* topic : {"", "Orders", "1a", "a b", "a*", "-a"}) {
    EXPECT_TRUE(passing_texts(Texts{.topics = {topic}}).starts_with("not a topic")) << topic;
  }
  EXPECT_TRUE(passing_texts(Texts{.topics = {std::string(101, 'a')}}).starts_with("not a topic"));
  EXPECT_EQ(passing_texts(Texts{.topics = {"a_b.c-9", std::string(100, 'a')}}), "");
}

TEST(ChangeFilterTest, what_clients_send_is_checked) {
  const std::vector<std::string> bad{"app.bsky.feed.post", "app.*.post"};
  EXPECT_TRUE(parse_collections(bad, 2).has_error());
  EXPECT_TRUE(parse_collections(std::vector<std::string>{"a.b.c", "a.b.d"}, 1).has_error());
  EXPECT_TRUE(parse_dids(std::vector<std::string>{"did:plc:a", "plc:b"}, 2).has_error());
  EXPECT_TRUE(parse_dids(std::vector<std::string>{"did:plc:a", "did:plc:b"}, 1).has_error());
  const ChangeFilter::Names known{"a", "b"};
  EXPECT_EQ(*parse_choice("op", std::vector<std::string>{"b"}, known), (ChangeFilter::Names{"b"}));
  EXPECT_EQ(parse_choice("op", std::vector<std::string>{"b", "c"}, known).error(),
            "op: 'c' is not one of a, b");
}

}  // namespace
}  // namespace skua::streams::change_filter_test
