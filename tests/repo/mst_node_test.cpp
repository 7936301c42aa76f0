#include "repo/mst_node.hpp"

#include <gtest/gtest.h>

#include "repo/made_repository.hpp"
#include "repo/mst_tree.hpp"
#include "support/json_vectors.hpp"

namespace skua::repo {
namespace {

using atproto::Cid;
using test::JsonVector;

class InteropCommonPrefix : public testing::TestWithParam<JsonVector> {};

TEST_P(InteropCommonPrefix, IsTheEntrysPrefix) {
  if (!GetParam().available) SKUA_NEED_SHARED();
  const auto length = GetParam().entry.at("len").get<std::size_t>();
  EXPECT_EQ(mst_shared_prefix(GetParam().text("left"), GetParam().text("right")), length);
  EXPECT_EQ(mst_shared_prefix(GetParam().text("right"), GetParam().text("left")), length);
}

INSTANTIATE_TEST_SUITE_P(CommonPrefix, InteropCommonPrefix,
                         testing::ValuesIn(test::shared_entries("interop/mst/common_prefix.json",
                                                                "left")),
                         test::NameOfEntry());

TEST(MstSharedPrefix, CountsBytesNotCharacters) {
  EXPECT_EQ(mst_shared_prefix("", ""), 0U);
  EXPECT_EQ(mst_shared_prefix("a.b.c/1", "a.b.c/2"), 6U);
  EXPECT_EQ(mst_shared_prefix("a.b.c/1", "a.b.c/12"), 7U);
  EXPECT_EQ(mst_shared_prefix("\xc3\xa9", "\xc3\xa8"), 1U);
}

TEST(MstNode, EachEntrySharesWhatItCanWithTheOneBefore) {
  const test_cases::Entries entries = test_cases::made_entries(12, 300);
  MstTree tree = MstTree::build(entries);
  atproto::Document scratch;
  MstNode node;
  std::size_t shortened = 0;
  for (const auto& [cid, block] : tree.blocks()) {
    ASSERT_TRUE(decode_mst_node(block, scratch, node));
    EXPECT_EQ(encode_mst_node(node), block);
    std::string key;
    for (const MstNodeEntry& entry : node.entries) {
      std::string next = key.substr(0, entry.prefix) + std::string(as_text(entry.suffix));
      EXPECT_EQ(entry.prefix, mst_shared_prefix(key, next));
      shortened += entry.prefix > 0 ? 1U : 0U;
      key = std::move(next);
    }
  }
  EXPECT_GT(shortened, 100U);
}

}  // namespace
}  // namespace skua::repo
