#include "repo/mst_tree.hpp"

#include <algorithm>
#include <map>
#include <random>

#include <gtest/gtest.h>

#include "repo/errc.hpp"
#include "repo/made_repository.hpp"
#include "repo/mst_reader.hpp"

namespace skua::repo::mst_tree_test {
namespace {

using atproto::Cid;
using test_cases::Entries;

Entries entries_of(MstTree& tree) {
  const OwnedBlocks blocks = tree.blocks();
  const BlockMap map = test_cases::view_of(blocks);
  Entries entries;
  const auto walk = walk_mst(tree.root(), map, [&](std::string_view key, const Cid& value) {
    entries.emplace_back(key, value);
  });
  EXPECT_TRUE(walk) << walk.error().message();
  EXPECT_EQ(walk->missing_nodes, 0U);
  EXPECT_EQ(walk->nodes, blocks.size());
  return entries;
}

TEST(MstTree, empty_tree) {
  MstTree tree;
  EXPECT_EQ(tree.root().to_string(), "bafyreie5737gdxlw5i64vzichcalba3z2v5n6icifvx5xytvske7mr3hpm");
  EXPECT_EQ(tree.blocks().size(), 1U);
  EXPECT_EQ(*tree.get("a"), std::nullopt);
  EXPECT_EQ(*tree.remove("a"), std::nullopt);
  EXPECT_TRUE(entries_of(tree).empty());
}

TEST(MstTree, shape_does_not_depend_on_the_way_there) {
  const Entries entries = test_cases::made_entries(4, 400);
  MstTree built = MstTree::build(entries);
  EXPECT_EQ(entries_of(built), entries);

  Entries shuffled = entries;
  std::shuffle(shuffled.begin(), shuffled.end(), std::mt19937(11));
  MstTree grown;
  for (const auto& [key, value] : shuffled) ASSERT_EQ(*grown.set(key, value), std::nullopt);
  EXPECT_EQ(grown.root(), built.root());
  EXPECT_EQ(grown.blocks(), built.blocks());
}

TEST(MstTree, set_returns_the_value_before) {
  const Cid one = Cid::of(as_bytes("1"));
  const Cid two = Cid::of(as_bytes("2"));
  MstTree tree;
  EXPECT_EQ(*tree.set("a.b.c/x", one), std::nullopt);
  const Cid root = tree.root();
  EXPECT_EQ(*tree.set("a.b.c/x", two), one);
  EXPECT_NE(tree.root(), root);
  EXPECT_EQ(*tree.get("a.b.c/x"), two);
  EXPECT_EQ(*tree.set("a.b.c/x", one), two);
  EXPECT_EQ(tree.root(), root);
  EXPECT_EQ(tree.set(std::string(1025, 'k'), one).error(), errc::mst_too_large);
}

TEST(MstTree, random_changes_agree_with_a_map) {
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    std::mt19937 random(seed);
    std::map<std::string, Cid> expected;
    MstTree tree;
    for (int step = 0; step < 300; ++step) {
      const std::string key = test_cases::path_of(static_cast<std::uint32_t>(random() % 120));
      const auto known = expected.find(key);
      const auto before = known == expected.end() ? std::optional<Cid>() : known->second;
      ASSERT_EQ(*tree.get(key), before);
      if (random() % 3 == 0) {
        ASSERT_EQ(*tree.remove(key), before);
        expected.erase(key);
      } else {
        const Cid value = Cid::of(as_bytes(std::to_string(random())));
        ASSERT_EQ(*tree.set(key, value), before);
        expected[key] = value;
      }
      if (step % 10 == 0) {
        const Entries entries(expected.begin(), expected.end());
        ASSERT_EQ(tree.root(), MstTree::build(entries).root()) << seed << ' ' << step;
      }
    }
    EXPECT_EQ(entries_of(tree), Entries(expected.begin(), expected.end()));
  }
}

TEST(MstTree, undoing_each_change_gives_each_root_again) {
  const Entries entries = test_cases::made_entries(5, 150);
  MstTree tree;
  std::vector<Cid> roots;
  for (const auto& [key, value] : entries) {
    roots.push_back(tree.root());
    ASSERT_TRUE(tree.set(key, value));
  }
  for (std::size_t i = entries.size(); i-- > 0;) {
    ASSERT_EQ(*tree.remove(entries[i].first), entries[i].second);
    ASSERT_EQ(tree.root(), roots[i]) << i;
  }
}

TEST(MstTree, opens_on_blocks) {
  const Entries entries = test_cases::made_entries(6, 200);
  MstTree built = MstTree::build(entries);
  const OwnedBlocks blocks = built.blocks();
  const BlockMap map = test_cases::view_of(blocks);
  auto opened = MstTree::open(built.root(), map);
  ASSERT_TRUE(opened) << opened.error().message();
  for (const auto& [key, value] : entries) EXPECT_EQ(*opened->get(key), value);
  EXPECT_EQ(*opened->get("nothing/here"), std::nullopt);
  EXPECT_EQ(opened->root(), built.root());
  for (const auto& [key, value] : entries) ASSERT_EQ(*opened->remove(key), value);
  EXPECT_EQ(opened->root(), MstTree().root());

  MstTree empty;
  const OwnedBlocks empty_blocks = empty.blocks();
  const BlockMap empty_map = test_cases::view_of(empty_blocks);
  auto reopened = MstTree::open(empty.root(), empty_map);
  ASSERT_TRUE(reopened);
  EXPECT_EQ(reopened->root(), empty.root());
  EXPECT_EQ(MstTree::open(built.root(), empty_map).error(), errc::mst_missing_node);
}

/// The first path from this number on, in steps of three, that has the depth.
std::string key_of_depth(int depth, std::uint32_t number) {
  while (mst_key_depth(test_cases::path_of(number)) != depth) number += 3;
  return test_cases::path_of(number);
}

// Wherever in the node the key stands, and whether or not it is the one asked for.
TEST(MstTree, refuses_a_node_that_hangs_in_two_gaps) {
  const Cid value = Cid::of(as_bytes("a record"));
  const std::string low = key_of_depth(0, 1);
  MstNode leaf;
  leaf.entries.push_back({0, as_bytes(low), value, {}});
  const Bytes leaf_block = encode_mst_node(leaf);
  const Cid leaf_cid = Cid::of(leaf_block);
  const std::string high = key_of_depth(1, 3000);
  ASSERT_LT(low, high);
  MstNode top;
  top.left = leaf_cid;
  top.entries.push_back({0, as_bytes(high), value, leaf_cid});
  const Bytes top_block = encode_mst_node(top);
  const BlockMap blocks{{leaf_cid.digest, leaf_block}, {Cid::of(top_block).digest, top_block}};
  auto tree = MstTree::open(Cid::of(top_block), blocks);
  ASSERT_TRUE(tree);
  EXPECT_EQ(*tree->get(low), value);
  EXPECT_EQ(tree->get(high + "x").error(), errc::mst_malformed);
}

TEST(MstTree, refuses_a_key_of_another_depth) {
  const Cid value = Cid::of(as_bytes("a record"));
  for (std::uint32_t wrong = 0; wrong < 3; ++wrong) {
    std::vector<std::string> keys;
    for (std::uint32_t i = 0; i < 3; ++i) {
      keys.push_back(key_of_depth(i == wrong ? 2 : 1, 3000 * i));
    }
    ASSERT_TRUE(std::is_sorted(keys.begin(), keys.end()));
    MstNode node;
    std::string_view previous;
    for (const std::string& key : keys) {
      const std::size_t shared = mst_shared_prefix(previous, key);
      node.entries.push_back({static_cast<std::uint32_t>(shared),
                              as_bytes(std::string_view(key).substr(shared)),
                              value,
                              {}});
      previous = key;
    }
    const Bytes block = encode_mst_node(node);
    const Cid root = Cid::of(block);
    const BlockMap map{{root.digest, block}};
    EXPECT_EQ(MstTree::open(root, map).error(), errc::mst_depth) << "the top, key " << wrong;

    // As a lower node, where level 1 is right.
    const std::string high = key_of_depth(3, 30000);
    ASSERT_LT(keys.back(), high);
    MstNode middle;
    middle.left = root;
    const Bytes middle_block = encode_mst_node(middle);
    MstNode top;
    top.left = Cid::of(middle_block);
    top.entries.push_back({0, as_bytes(high), value, {}});
    const Bytes top_block = encode_mst_node(top);
    const BlockMap whole{{root.digest, block},
                         {top.left->digest, middle_block},
                         {Cid::of(top_block).digest, top_block}};
    auto tree = MstTree::open(Cid::of(top_block), whole);
    ASSERT_TRUE(tree) << tree.error().message();
    EXPECT_EQ(*tree->get(high), value);
    EXPECT_EQ(tree->get(keys[(wrong + 1) % 3]).error(), errc::mst_depth) << "below, key " << wrong;
  }
}

// A commit need not carry a node that only moves up: its CID is enough.
TEST(MstTree, the_top_may_go_without_the_node_below) {
  const Cid value = Cid::of(as_bytes("a record"));
  const std::string high = key_of_depth(1, 0);
  MstTree tree;
  for (std::uint32_t i = 1; i <= 20; ++i) {
    ASSERT_TRUE(tree.set(key_of_depth(0, 3000 * i), value));
  }
  const Cid before = tree.root();
  ASSERT_LT(high, key_of_depth(0, 3000));
  ASSERT_TRUE(tree.set(high, value));

  OwnedBlocks top;
  top.emplace(tree.root(), tree.blocks().at(tree.root()));
  const BlockMap map = test_cases::view_of(top);
  auto partial = MstTree::open(tree.root(), map);
  ASSERT_TRUE(partial);
  const auto removed = partial->remove(high);
  ASSERT_TRUE(removed) << removed.error().message();
  EXPECT_EQ(*removed, value);
  EXPECT_EQ(partial->root(), before);
}

TEST(MstTree, says_what_a_partial_tree_lacks) {
  const Entries entries = test_cases::made_entries(8, 300);
  MstTree built = MstTree::build(entries);
  OwnedBlocks top;
  top.emplace(built.root(), built.blocks().at(built.root()));
  const BlockMap map = test_cases::view_of(top);
  auto partial = MstTree::open(built.root(), map);
  ASSERT_TRUE(partial);
  std::size_t missing = 0;
  for (const auto& [key, value] : entries) {
    const auto found = partial->get(key);
    if (found) {
      EXPECT_EQ(*found, value);
    } else {
      EXPECT_EQ(found.error(), errc::mst_missing_node);
      ++missing;
    }
  }
  EXPECT_GT(missing, 0U);
  EXPECT_LT(missing, entries.size());
}

}  // namespace
}  // namespace skua::repo::mst_tree_test
