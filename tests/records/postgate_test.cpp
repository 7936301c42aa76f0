#include "records/gates.hpp"
#include "records/record_rules.hpp"

namespace skua::test::postgate_test {
namespace {

using records::Postgate;
using records::TextList;

const std::string kPost = uri_of(kDid, "app.bsky.feed.post", "3jquh3dxgi52o");

json valid() {
  return {{"$type", "app.bsky.feed.postgate"},
          {"post", kPost},
          {"embeddingRules", {{{"$type", "app.bsky.feed.postgate#disableRule"}}}},
          {"detachedEmbeddingUris", {kPost}},
          {"createdAt", "2026-07-04T14:38:08.000Z"}};
}

INSTANTIATE_TEST_SUITE_P(Postgate, BreaksLexicon,
                         testing::ValuesIn(breaches_of<Postgate>(
                             valid(), {"post", "createdAt", "embeddingRules[0].$type"},
                             {"post", "createdAt", "embeddingRules", "detachedEmbeddingUris",
                              "detachedEmbeddingUris[0]"})),
                         breach_name);

TEST(PostgateTest, fills_its_fields) {
  Valid<Postgate> gate(valid());
  EXPECT_EQ(gate->post->rkey, "3jquh3dxgi52o");
  EXPECT_TRUE(gate->embedding_disabled);
  EXPECT_EQ(gate->detached_uris, TextList{kPost});
  EXPECT_TRUE(gate->created_at);
  EXPECT_EQ(gate->extra, "");
  EXPECT_EQ(references_of(gate.decoded().record), std::vector{kPost});
}

TEST(PostgateTest, keeps_an_empty_list_and_a_repeated_rule) {
  json record = valid();
  const json rule = record["embeddingRules"][0];
  record["embeddingRules"] = json::array();
  EXPECT_EQ(Valid<Postgate>(record)->extra, R"({"embeddingRules":[]})");
  record["embeddingRules"] = {rule, rule};
  EXPECT_EQ(json::parse(Valid<Postgate>(record)->extra),
            json({{"embeddingRules", record["embeddingRules"]}}));
}

TEST(PostgateTest, keeps_rules_that_it_does_not_know) {
  json record = valid();
  record["embeddingRules"] = {{{"$type", "com.example.rule"}}};
  const Valid<Postgate> gate(record);
  EXPECT_FALSE(gate->embedding_disabled);
  EXPECT_EQ(json::parse(gate->extra), json({{"embeddingRules", record["embeddingRules"]}}));
}

}  // namespace
}  // namespace skua::test::postgate_test
