#include "records/record_rules.hpp"
#include "records/services.hpp"

namespace skua::test::labeler_test {
namespace {

using records::Labeler;
using records::TextList;

json valid() {
  const json definition = {
      {"identifier", "birds"},
      {"severity", "inform"},
      {"blurs", "none"},
      {"adultOnly", false},
      {"locales", {{{"lang", "en"}, {"name", "Birds"}, {"description", "Has birds"}}}}};
  return {{"$type", "app.bsky.labeler.service"},
          {"policies", {{"labelValues", {"birds"}}, {"labelValueDefinitions", {definition}}}},
          {"labels", {{"$type", "com.atproto.label.defs#selfLabels"}, {"values", json::array()}}},
          {"reasonTypes", {"com.atproto.moderation.defs#reasonSpam"}},
          {"subjectTypes", {"account"}},
          {"subjectCollections", {"app.bsky.feed.post"}},
          {"createdAt", "2026-07-04T14:38:08.000Z"}};
}

INSTANTIATE_TEST_SUITE_P(
    Labeler, BreaksLexicon,
    testing::ValuesIn(breaches_of<Labeler>(
        valid(),
        {"policies", "createdAt", "policies.labelValues",
         "policies.labelValueDefinitions[0].identifier",
         "policies.labelValueDefinitions[0].locales",
         "policies.labelValueDefinitions[0].locales[0].name"},
        {"policies", "createdAt", "policies.labelValues", "policies.labelValueDefinitions",
         "policies.labelValueDefinitions[0].adultOnly", "labels", "reasonTypes", "subjectTypes",
         "subjectTypes[0]", "subjectCollections"})),
    breach_name);

TEST(LabelerTest, fills_its_fields) {
  Valid<Labeler> labeler(valid());
  EXPECT_EQ(json::parse(labeler->policies_json), valid()["policies"]);
  EXPECT_EQ(labeler->labels, TextList{});
  EXPECT_EQ(labeler->reason_types, TextList{"com.atproto.moderation.defs#reasonSpam"});
  EXPECT_EQ(labeler->subject_types, TextList{"account"});
  EXPECT_EQ(labeler->subject_collections, TextList{"app.bsky.feed.post"});
  EXPECT_TRUE(labeler->created_at);
  EXPECT_EQ(labeler->extra, "");
  EXPECT_TRUE(references_of(labeler.decoded().record).empty());
}

TEST(LabelerTest, counts_only_under_self) {
  EXPECT_EQ(DecodedJson(Labeler::kCollection, valid())->invalid_reason, "rkey: must be self");
}

}  // namespace
}  // namespace skua::test::labeler_test
