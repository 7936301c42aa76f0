#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "atproto/data_model.hpp"
#include "repo/dag_cbor.hpp"
#include "repo/errc.hpp"
#include "repo/made_repository.hpp"
#include "repo/mst_reader.hpp"
#include "repo/mst_tree.hpp"
#include "support/json_vectors.hpp"

namespace skua::repo::mst_node_test {
namespace {

using atproto::Cid;
using test::JsonVector;

class InteropCommonPrefix : public testing::TestWithParam<JsonVector> {};

TEST_P(InteropCommonPrefix, is_the_entrys_prefix) {
  if (!GetParam().available) SKUA_NEED_SHARED();
  const auto length = GetParam().entry.at("len").get<std::size_t>();
  EXPECT_EQ(mst_shared_prefix(GetParam().text("left"), GetParam().text("right")), length);
  EXPECT_EQ(mst_shared_prefix(GetParam().text("right"), GetParam().text("left")), length);
}

INSTANTIATE_TEST_SUITE_P(CommonPrefix, InteropCommonPrefix,
                         testing::ValuesIn(test::shared_entries("interop/mst/common_prefix.json",
                                                                "left")),
                         test::NameOfEntry());

TEST(MstSharedPrefix, counts_bytes_not_characters) {
  EXPECT_EQ(mst_shared_prefix("", ""), 0U);
  EXPECT_EQ(mst_shared_prefix("a.b.c/1", "a.b.c/2"), 6U);
  EXPECT_EQ(mst_shared_prefix("a.b.c/1", "a.b.c/12"), 7U);
  EXPECT_EQ(mst_shared_prefix("\xc3\xa9", "\xc3\xa8"), 1U);
}

TEST(MstNode, each_entry_shares_what_it_can_with_the_one_before) {
  const test_cases::Entries entries = test_cases::made_entries(12, 300);
  MstTree tree = MstTree::build(entries);
  MstNode node;
  std::size_t shortened = 0;
  for (const auto& [cid, block] : tree.blocks()) {
    ASSERT_TRUE(decode_mst_node(block, node));
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

// A node has one encoding: if a block were read and then written in another way, its tree would
// have a second root. The reader of general DAG-CBOR finds no node in a refused block either.
TEST(MstNode, reads_what_is_written_and_nothing_else) {
  const auto is_node = [](ByteView block) {
    atproto::Document document;
    if (!read_dag_cbor(block, document)) return false;
    const auto is_subtree = [](const auto& value) {
      return value && (value->is_null() || value->is_link());
    };
    const atproto::Value root = document.root();
    const auto entries = root.find("e");
    if (!root.is_map() || root.size() != 2 || !entries || !entries->is_list()) return false;
    if (!is_subtree(root.find("l"))) return false;
    for (const atproto::Value entry : entries->items()) {
      const auto suffix = entry.find("k");
      const auto prefix = entry.find("p");
      const auto value = entry.find("v");
      if (!entry.is_map() || entry.size() != 4 || !is_subtree(entry.find("t")) ||  //
          !suffix || !suffix->is_bytes() || !value || !value->is_link() ||         //
          !prefix || !prefix->is_integer() || prefix->integer() < 0 ||
          prefix->integer() > static_cast<std::int64_t>(kMaxMstKey)) {
        return false;
      }
    }
    return true;
  };
  MstNode node;
  const auto agree = [&](const Bytes& block) {
    const bool read = decode_mst_node(block, node).has_value();
    const auto has_value = [](const MstNodeEntry& entry) { return entry.value.has_value(); };
    // The other reader knows no links of other forms.
    if (read && !std::all_of(node.entries.begin(), node.entries.end(), has_value)) return true;
    return read == is_node(block) && (!read || encode_mst_node(node) == block);
  };

  MstTree tree = MstTree::build(test_cases::made_entries(13, 100));
  std::mt19937 random(14);
  for (const auto& [cid, block] : tree.blocks()) {
    for (std::size_t size = 0; size <= block.size(); ++size) {
      ASSERT_TRUE(agree(Bytes(block.begin(), block.begin() + static_cast<std::ptrdiff_t>(size))));
    }
    for (std::size_t i = 0; i < block.size(); ++i) {
      Bytes other = block;
      other[i] = static_cast<std::uint8_t>(random());
      ASSERT_TRUE(agree(other)) << "byte " << i << " is " << int{other[i]};
      other = block;
      other.insert(other.begin() + static_cast<std::ptrdiff_t>(i), block[random() % block.size()]);
      ASSERT_TRUE(agree(other)) << "a byte more at " << i;
    }
  }
}

TEST(MstNode, lengths_of_every_size) {
  for (const std::size_t suffix : {0U, 1U, 23U, 24U, 255U, 256U, 1024U, 65535U, 65536U}) {
    for (const std::uint32_t prefix : {0U, 23U, 24U, 255U, 256U, 1024U}) {
      const std::string text(suffix, 'k');
      MstNode node;
      node.entries.assign(suffix == 0 ? 300 : 1, {prefix, as_bytes(text), Cid(), Cid()});
      const Bytes block = encode_mst_node(node);
      MstNode read;
      ASSERT_TRUE(decode_mst_node(block, read)) << prefix << ' ' << suffix;
      ASSERT_EQ(read.entries.size(), node.entries.size());
      EXPECT_EQ(read.entries.back().prefix, prefix);
      EXPECT_EQ(as_text(read.entries.back().suffix), text);
    }
  }
}

TEST(MstNode, says_whether_it_is_no_dag_cbor_or_no_node) {
  MstNode node;
  EXPECT_EQ(decode_mst_node(Bytes{0xff}, node).error(), errc::cbor_indefinite_length);
  EXPECT_EQ(decode_mst_node(Bytes{}, node).error(), errc::cbor_truncated);
  EXPECT_EQ(decode_mst_node(Bytes{0xa0}, node).error(), errc::mst_malformed);
  Bytes block = encode_mst_node({});
  block.push_back(0xf6);
  EXPECT_EQ(decode_mst_node(block, node).error(), errc::cbor_trailing_bytes);
}

}  // namespace
}  // namespace skua::repo::mst_node_test
