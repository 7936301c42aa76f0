#include "records/lists.hpp"
#include "records/record_rules.hpp"

namespace skua::test::list_block_test {
namespace {

using records::ListBlock;

const std::string kList = uri_of(kOtherDid, "app.bsky.graph.list", "3jquh3dxv4v2o");

json valid() {
  return {{"$type", "app.bsky.graph.listblock"},
          {"subject", kList},
          {"createdAt", "2026-07-04T14:38:08.000Z"}};
}

INSTANTIATE_TEST_SUITE_P(ListBlock, BreaksLexicon,
                         testing::ValuesIn(breaches_of<ListBlock>(valid(), {"subject", "createdAt"},
                                                                  {"subject", "createdAt"})),
                         breach_name);

TEST(ListBlockTest, fills_its_fields) {
  Valid<ListBlock> block(valid());
  EXPECT_EQ(block->list->did, kOtherDid);
  EXPECT_EQ(block->list->rkey, "3jquh3dxv4v2o");
  EXPECT_TRUE(block->created_at);
  EXPECT_EQ(block->extra, "");
  EXPECT_EQ(references_of(block.decoded().record), std::vector{kList});
}

TEST(ListBlockTest, keeps_a_list_of_a_handle) {
  json record = valid();
  record["subject"] = "at://alice.example/app.bsky.graph.list/3jquh3dxv4v2o";
  Valid<ListBlock> block(record);
  EXPECT_FALSE(block->list);
  EXPECT_EQ(json::parse(block->extra), json({{"subject", record["subject"]}}));
  EXPECT_TRUE(references_of(block.decoded().record).empty());
}

}  // namespace
}  // namespace skua::test::list_block_test
