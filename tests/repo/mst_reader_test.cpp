#include "repo/mst_reader.hpp"

#include <map>
#include <ostream>

#include <gtest/gtest.h>

#include "repo/errc.hpp"
#include "repo/made_repository.hpp"
#include "repo/mst_tree.hpp"
#include "support/json_vectors.hpp"

namespace skua::repo::mst_reader_test {
namespace {

using atproto::Cid;
using test::JsonVector;
using test_cases::Entries;

/// Blocks that own their bytes, and the map of views that readers want.
class Blocks {
 public:
  Cid add(const MstNode& node) { return add_block(encode_mst_node(node)); }
  Cid add_block(Bytes block) {
    const Cid cid = Cid::of(block);
    owned_.emplace(cid, std::move(block));
    return cid;
  }
  void add_all(const OwnedBlocks& blocks) { owned_.insert(blocks.begin(), blocks.end()); }
  void remove(const Cid& cid) { owned_.erase(cid); }
  BlockMap view() const {
    BlockMap map;
    for (const auto& [cid, block] : owned_) map.emplace(cid.digest, block);
    return map;
  }

 private:
  OwnedBlocks owned_;
};

const Cid kValue = Cid::of(as_bytes("a record"));

MstNodeEntry entry(std::uint32_t prefix, std::string_view suffix,
                   std::optional<Cid> tree = std::nullopt) {
  return {prefix, as_bytes(suffix), kValue, tree};
}

Result<MstWalk> walk(const Cid& root, const BlockMap& blocks, Entries* out = nullptr) {
  return walk_mst(root, blocks, [&](std::string_view key, const Cid& value) {
    if (out != nullptr) out->emplace_back(key, value);
  });
}

void expect_error(const Cid& root, const Blocks& blocks, errc error) {
  const BlockMap view = blocks.view();
  const auto walked = walk(root, view);
  ASSERT_FALSE(walked);
  EXPECT_EQ(walked.error(), error) << walked.error().message();
}

// Keys of known depth: the letter and the number say nothing, mst_key_depth does.
std::string key_of_depth(int depth, std::uint32_t from = 0) {
  for (std::uint32_t i = from;; ++i) {
    std::string key = test_cases::path_of(i);
    if (mst_key_depth(key) == depth) return key;
  }
}

TEST(MstKeyDepth, counts_pairs_of_zero_bits) {
  // The examples of the specification of repositories.
  EXPECT_EQ(mst_key_depth("2653ae71"), 0);
  EXPECT_EQ(mst_key_depth("blue"), 1);
  EXPECT_EQ(mst_key_depth("app.bsky.feed.post/454397e440ec"), 4);
  EXPECT_EQ(mst_key_depth("app.bsky.feed.post/9adeb165882c"), 8);
}

class InteropHeight : public testing::TestWithParam<JsonVector> {};

TEST_P(InteropHeight, is_the_depth_of_the_key) {
  if (!GetParam().available) SKUA_NEED_SHARED();
  EXPECT_EQ(mst_key_depth(GetParam().name), GetParam().entry.at("height").get<int>());
}

INSTANTIATE_TEST_SUITE_P(KeyHeights, InteropHeight,
                         testing::ValuesIn(test::shared_entries("interop/mst/key_heights.json",
                                                                "key")),
                         test::NameOfEntry());

class InteropExampleKey : public testing::TestWithParam<test::LineVector> {};

TEST_P(InteropExampleKey, says_its_depth) {
  if (!GetParam().available) SKUA_NEED_SHARED();
  EXPECT_EQ(mst_key_depth(GetParam().text), GetParam().text.at(1) - '0');
}

INSTANTIATE_TEST_SUITE_P(ExampleKeys, InteropExampleKey,
                         testing::ValuesIn(test::shared_lines("interop/mst/example_keys.txt")),
                         test::NameOfLine());

TEST(WalkMst, empty_repository) {
  Blocks blocks;
  const Cid root = blocks.add({});
  EXPECT_EQ(root.to_string(), "bafyreie5737gdxlw5i64vzichcalba3z2v5n6icifvx5xytvske7mr3hpm");
  const BlockMap view = blocks.view();
  const auto walked = walk(root, view);
  ASSERT_TRUE(walked);
  EXPECT_EQ(walked->entries, 0U);
  EXPECT_EQ(walked->nodes, 1U);
}

TEST(WalkMst, gives_entries_in_order) {
  for (const std::size_t count : {1U, 2U, 5U, 50U, 1000U}) {
    const Entries entries = test_cases::made_entries(static_cast<std::uint32_t>(count), count);
    const BuiltMst built = build_mst(entries);
    Blocks blocks;
    blocks.add_all(built.blocks);
    const BlockMap view = blocks.view();
    Entries seen;
    const auto walked = walk(built.root, view, &seen);
    ASSERT_TRUE(walked) << walked.error().message();
    EXPECT_EQ(seen, entries);
    EXPECT_EQ(walked->entries, count);
    EXPECT_EQ(walked->nodes, built.blocks.size());
    EXPECT_EQ(walked->missing_nodes, 0U);
  }
}

TEST(WalkMst, counts_missing_nodes) {
  const BuiltMst built = build_mst(test_cases::made_entries(9, 300));
  Blocks blocks;
  blocks.add_all(built.blocks);
  blocks.remove(built.root);
  BlockMap view = blocks.view();
  auto walked = walk(built.root, view);
  ASSERT_TRUE(walked);
  EXPECT_EQ(walked->missing_nodes, 1U);
  EXPECT_EQ(walked->entries, 0U);

  Blocks top_only;
  top_only.add_block(built.blocks.at(built.root));
  view = top_only.view();
  walked = walk(built.root, view);
  ASSERT_TRUE(walked);
  EXPECT_EQ(walked->nodes, 1U);
  EXPECT_GT(walked->missing_nodes, 0U);
  EXPECT_GT(walked->entries, 0U);
}

TEST(WalkMst, allows_empty_nodes_between) {
  const std::string low = "a" + key_of_depth(0);
  std::string leaf_key;
  for (std::uint32_t i = 0; leaf_key.empty(); ++i) {
    const std::string key = "a" + std::to_string(i);
    if (mst_key_depth(key) == 0) leaf_key = key;
  }
  const std::string top_key = key_of_depth(2);  // begins with "app" or "com"
  Blocks blocks;
  const Cid leaf = blocks.add({std::nullopt, {entry(0, leaf_key)}});
  const Cid bridge = blocks.add({leaf, {}});
  const Cid root = blocks.add({bridge, {entry(0, top_key)}});
  const BlockMap view = blocks.view();
  Entries seen;
  const auto walked = walk(root, view, &seen);
  ASSERT_TRUE(walked) << walked.error().message();
  EXPECT_EQ(walked->nodes, 3U);
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_EQ(seen[0].first, leaf_key);

  // An empty node that ends the bridge, and one on top.
  const Cid hollow = blocks.add({blocks.add({}), {}});
  expect_error(blocks.add({hollow, {entry(0, top_key)}}), blocks, errc::mst_malformed);
  expect_error(blocks.add({root, {}}), blocks, errc::mst_malformed);
}

TEST(WalkMst, refuses_wrong_order) {
  const std::string first = key_of_depth(0);
  std::string second;
  for (std::uint32_t i = 1; second.empty(); ++i) {
    const std::string key = test_cases::path_of(i);
    if (key > first && mst_key_depth(key) == 0) second = key;
  }
  Blocks blocks;
  const BlockMap empty;
  expect_error(blocks.add({std::nullopt, {entry(0, second), entry(0, first)}}), blocks,
               errc::mst_order);
  expect_error(blocks.add({std::nullopt, {entry(0, first), entry(0, first)}}), blocks,
               errc::mst_order);
}

TEST(WalkMst, refuses_a_subtree_twice) {
  const std::string low = key_of_depth(0);
  std::string high;
  for (std::uint32_t i = 0; high.empty(); ++i) {
    const std::string key = test_cases::path_of(i);
    if (key > low && mst_key_depth(key) == 1) high = key;
  }
  Blocks blocks;
  const Cid leaf = blocks.add({std::nullopt, {entry(0, low)}});
  expect_error(blocks.add({leaf, {entry(0, high, leaf)}}), blocks, errc::mst_order);
}

TEST(WalkMst, refuses_wrong_depths) {
  const std::string low = key_of_depth(0);
  const std::string high = key_of_depth(2);
  Blocks blocks;
  // Two depths in one node.
  const bool low_first = low < high;
  expect_error(blocks.add({std::nullopt,
                           {entry(0, low_first ? low : high), entry(0, low_first ? high : low)}}),
               blocks, errc::mst_depth);
  // A child that skips a level.
  const Cid leaf = blocks.add({std::nullopt, {entry(0, low)}});
  expect_error(low_first ? blocks.add({leaf, {entry(0, high)}})
                         : blocks.add({std::nullopt, {entry(0, high, leaf)}}),
               blocks, errc::mst_depth);
  // A child below the lowest level.
  expect_error(blocks.add({leaf, {entry(0, low)}}), blocks, errc::mst_depth);
}

TEST(WalkMst, refuses_bad_prefixes_and_keys) {
  const std::string key = key_of_depth(0);
  Blocks blocks;
  expect_error(blocks.add({std::nullopt, {entry(1, key)}}), blocks, errc::mst_malformed);
  expect_error(blocks.add({std::nullopt, {entry(0, key), entry(900, "x")}}), blocks,
               errc::mst_malformed);
  const std::string huge(1025, 'k');
  expect_error(blocks.add({std::nullopt, {entry(0, huge)}}), blocks, errc::mst_too_large);
}

TEST(WalkMst, refuses_other_blocks) {
  Blocks blocks;
  for (const char* hex : {
           "80",              // a list
           "a0",              // no fields
           "a1616580",        // no l
           "a2616580616c00",  // l is a number
           "a261650"
           "0616cf6",
           "a3616580616cf6617800",  // a field too many
           "a2616581a0616cf6",      // an entry without fields
           "a26165810061"
           "6cf6",  // an entry that is a number
           "a2616581a4616b6161617000617"
           "4f66176f6616cf6",  // k is text, v null
       }) {
    const Cid root = blocks.add_block(test::from_hex(hex));
    expect_error(root, blocks, errc::mst_malformed);
  }
  expect_error(blocks.add_block({0xff}), blocks, errc::cbor_indefinite_length);
}

}  // namespace
}  // namespace skua::repo::mst_reader_test
