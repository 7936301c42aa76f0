#include "records/lists.hpp"
#include "records/record_rules.hpp"

namespace skua::test::list_test {
namespace {

using records::List;
using records::TextList;

json valid() {
  return {{"$type", "app.bsky.graph.list"},
          {"name", "Birds"},
          {"purpose", "app.bsky.graph.defs#curatelist"},
          {"description", "People who like birds"},
          {"descriptionFacets", json::array()},
          {"avatar", blob()},
          {"labels",
           {{"$type", "com.atproto.label.defs#selfLabels"}, {"values", {{{"val", "!warn"}}}}}},
          {"createdAt", "2026-07-04T14:38:08.000Z"}};
}

INSTANTIATE_TEST_SUITE_P(
    List, BreaksLexicon,
    testing::ValuesIn(breaches_of<List>(valid(), {"name", "purpose", "createdAt"},
                                        {"name", "purpose", "createdAt", "description",
                                         "descriptionFacets", "avatar", "labels"})),
    breach_name);

TEST(ListTest, fills_its_fields) {
  Valid<List> list(valid());
  EXPECT_EQ(list->name, "Birds");
  EXPECT_EQ(list->purpose, "app.bsky.graph.defs#curatelist");
  EXPECT_EQ(list->description, "People who like birds");
  EXPECT_EQ(list->description_facets_json, "[]");
  EXPECT_EQ(list->avatar->cid_text(), kBlobCid);
  EXPECT_EQ(list->labels, TextList{"!warn"});
  EXPECT_TRUE(list->created_at);
  EXPECT_EQ(list->extra, R"({"$avatar":{"mimeType":"image/png","size":1234}})");
  EXPECT_TRUE(references_of(list.decoded().record).empty());
}

TEST(ListTest, keeps_labels_of_a_type_that_it_does_not_know) {
  json record = valid();
  record.erase("avatar");
  record["labels"] = {{"$type", "com.example.labels"}, {"a", 1}};
  const Valid<List> list(record);
  EXPECT_FALSE(list->labels);
  EXPECT_EQ(json::parse(list->extra), json({{"labels", record["labels"]}}));
}

}  // namespace
}  // namespace skua::test::list_test
