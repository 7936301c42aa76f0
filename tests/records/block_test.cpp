#include "records/record_rules.hpp"
#include "records/relations.hpp"

namespace skua::test::block_test {
namespace {

using records::Block;

json valid() {
  return {{"$type", "app.bsky.graph.block"},
          {"subject", kDid},
          {"createdAt", "2026-07-04T14:38:08.000Z"},
          {"reason", "spam"}};
}

INSTANTIATE_TEST_SUITE_P(Block, BreaksLexicon,
                         testing::ValuesIn(breaches_of<Block>(valid(), {"subject", "createdAt"},
                                                              {"subject", "createdAt"})),
                         breach_name);

TEST(BlockTest, fills_its_fields) {
  Valid<Block> block(valid());
  EXPECT_EQ(block->subject.did, kDid);
  EXPECT_TRUE(block->created_at);
  EXPECT_EQ(block->extra, R"({"reason":"spam"})");
  EXPECT_EQ(references_of(block.decoded().record), std::vector{std::string(kDid)});
}

}  // namespace
}  // namespace skua::test::block_test
