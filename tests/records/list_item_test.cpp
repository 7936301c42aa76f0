#include "records/lists.hpp"
#include "records/record_rules.hpp"

namespace skua::test::list_item_test {
namespace {

using records::ListItem;

const std::string kList = uri_of(kOtherDid, "app.bsky.graph.list", "3jquh3dxv4v2o");

json valid() {
  return {{"$type", "app.bsky.graph.listitem"},
          {"subject", kDid},
          {"list", kList},
          {"createdAt", "2026-07-04T14:38:08.000Z"}};
}

INSTANTIATE_TEST_SUITE_P(ListItem, BreaksLexicon,
                         testing::ValuesIn(breaches_of<ListItem>(valid(),
                                                                 {"subject", "list", "createdAt"},
                                                                 {"subject", "list", "createdAt"})),
                         breach_name);

TEST(ListItemTest, fills_its_fields) {
  Valid<ListItem> item(valid());
  EXPECT_EQ(item->subject.did, kDid);
  EXPECT_EQ(item->list->rkey, "3jquh3dxv4v2o");
  EXPECT_FALSE(item->list->cid);
  EXPECT_TRUE(item->created_at);
  EXPECT_EQ(item->extra, "");
  EXPECT_EQ(references_of(item.decoded().record), (std::vector{std::string(kDid), kList}));
}

TEST(ListItemTest, keeps_a_list_that_is_none) {
  json record = valid();
  record["list"] = uri_of(kDid, "app.bsky.feed.post", "3jquh3dxv4v2o");
  const Valid<ListItem> item(record);
  EXPECT_FALSE(item->list);
  EXPECT_EQ(json::parse(item->extra), json({{"list", record["list"]}}));
}

}  // namespace
}  // namespace skua::test::list_item_test
