#include "records/gates.hpp"
#include "records/record_rules.hpp"

namespace skua::test::threadgate_test {
namespace {

using records::TextList;
using records::Threadgate;

const std::string kPost = uri_of(kDid, "app.bsky.feed.post", "3jquh3dxgi52o");
const std::string kList = uri_of(kDid, "app.bsky.graph.list", "3jquh3dxv4v2o");

json rule(const std::string& name) {
  return {{"$type", "app.bsky.feed.threadgate#" + name}};
}

json valid() {
  json list_rule = rule("listRule");
  list_rule["list"] = kList;
  return {{"$type", "app.bsky.feed.threadgate"},
          {"post", kPost},
          {"allow", {rule("mentionRule"), list_rule}},
          {"hiddenReplies", {kPost}},
          {"createdAt", "2026-07-04T14:38:08.000Z"}};
}

INSTANTIATE_TEST_SUITE_P(Threadgate, BreaksLexicon,
                         testing::ValuesIn(breaches_of<Threadgate>(
                             valid(), {"post", "createdAt", "allow[0].$type", "allow[1].list"},
                             {"post", "createdAt", "allow", "allow[0]", "allow[1].list",
                              "hiddenReplies", "hiddenReplies[0]"})),
                         breach_name);

TEST(ThreadgateTest, fills_its_fields) {
  Valid<Threadgate> gate(valid());
  EXPECT_EQ(gate->post->rkey, "3jquh3dxgi52o");
  EXPECT_TRUE(gate->is_restricted);
  EXPECT_TRUE(gate->allow_mentioned);
  EXPECT_FALSE(gate->allow_following);
  EXPECT_FALSE(gate->allow_followers);
  EXPECT_EQ(gate->allow_lists, TextList{kList});
  EXPECT_EQ(gate->hidden_replies, TextList{kPost});
  EXPECT_EQ(gate->extra, "");
  EXPECT_EQ(references_of(gate.decoded().record), std::vector{kPost});
}

TEST(ThreadgateTest, tells_open_from_closed) {
  json record = valid();
  record["allow"] = json::array();
  const Valid<Threadgate> closed(record);
  EXPECT_TRUE(closed->is_restricted);
  EXPECT_FALSE(closed->allow_lists);
  EXPECT_FALSE(closed->allow_mentioned);
  record.erase("allow");
  record.erase("hiddenReplies");
  const Valid<Threadgate> open(record);
  EXPECT_FALSE(open->is_restricted);
  EXPECT_FALSE(open->hidden_replies);
}

TEST(ThreadgateTest, knows_each_rule) {
  json record = valid();
  record["allow"] = {rule("followingRule"), rule("followerRule")};
  const Valid<Threadgate> gate(record);
  EXPECT_TRUE(gate->allow_following);
  EXPECT_TRUE(gate->allow_followers);
  EXPECT_FALSE(gate->allow_mentioned);
}

TEST(ThreadgateTest, keeps_rules_in_another_order) {
  json record = valid();
  record["allow"] = {rule("followerRule"), rule("followingRule")};
  EXPECT_EQ(json::parse(Valid<Threadgate>(record)->extra), json({{"allow", record["allow"]}}));
  record["allow"] = {rule("mentionRule"), rule("mentionRule")};
  EXPECT_EQ(json::parse(Valid<Threadgate>(record)->extra), json({{"allow", record["allow"]}}));
}

TEST(ThreadgateTest, keeps_rules_that_it_does_not_know) {
  json record = valid();
  record["allow"].push_back({{"$type", "com.example.rule"}, {"a", 1}});
  const Valid<Threadgate> gate(record);
  EXPECT_TRUE(gate->allow_mentioned);
  EXPECT_EQ(json::parse(gate->extra), json({{"allow", record["allow"]}}));
}

TEST(ThreadgateTest, refuses_uris_that_are_none) {
  json record = valid();
  record["post"] = "nothing";
  EXPECT_EQ(DecodedJson(Threadgate::kCollection, record)->invalid_reason, "post: not an AT-URI");
  record = valid();
  record["hiddenReplies"] = {kPost, "nothing"};
  EXPECT_EQ(DecodedJson(Threadgate::kCollection, record)->invalid_reason,
            "hiddenReplies[1]: not an AT-URI");
}

TEST(ThreadgateTest, keeps_a_post_that_is_none) {
  json record = valid();
  record["post"] = kList;
  const Valid<Threadgate> gate(record);
  EXPECT_FALSE(gate->post);
  EXPECT_EQ(json::parse(gate->extra), json({{"post", kList}}));
}

}  // namespace
}  // namespace skua::test::threadgate_test
