#include <map>
#include <string>
#include <utility>
#include <vector>

#include "fuzz/target.hpp"
#include "repo/mst_reader.hpp"
#include "repo/mst_tree.hpp"

namespace skua::fuzz {
namespace {

void decode_node(ByteView block) {
  repo::MstNode node;
  if (!repo::decode_mst_node(block, node)) return;
  // The form of other links is not kept.
  for (const repo::MstNodeEntry& entry : node.entries) {
    if (!entry.value) return;
  }
  const Bytes encoded = repo::encode_mst_node(node);
  require(std::equal(encoded.begin(), encoded.end(), block.begin(), block.end()),
          "a node has one form");
}

/// Two bytes an operation: the key, and whether it is removed or which value it gets.
void change_tree(ByteView script) {
  repo::MstTree tree;
  std::map<std::string, atproto::Cid> expected;
  for (std::size_t i = 0; i + 1 < script.size() && i < 256; i += 2) {
    const std::string key = "com.example.record/" + std::to_string(script[i]);
    const auto before = expected.find(key);
    const auto former =
        before == expected.end() ? std::optional<atproto::Cid>() : std::optional(before->second);
    if (script[i + 1] % 4 == 0) {
      require(tree.remove(key) == Result<std::optional<atproto::Cid>>(former),
              "removing returns what was there");
      expected.erase(key);
    } else {
      const auto value = atproto::Cid::of(script.subspan(i + 1, 1));
      require(tree.set(key, value) == Result<std::optional<atproto::Cid>>(former),
              "setting returns what was there");
      expected[key] = value;
    }
  }
  const std::vector<std::pair<std::string, atproto::Cid>> entries(expected.begin(), expected.end());
  require(tree.root() == repo::MstTree::build(entries).root(),
          "the shape of a tree follows from its entries alone");

  const repo::OwnedBlocks blocks = tree.blocks();
  repo::BlockMap views;
  for (const auto& [cid, block] : blocks) views.emplace(cid.digest, block);
  auto next = entries.begin();
  const auto walk =
      repo::walk_mst(tree.root(), views, [&](std::string_view key, const atproto::Cid& value) {
        require(next != entries.end() && next->first == key && next->second == value,
                "a walk visits the entries in their order");
        ++next;
      });
  require(walk && walk->missing_nodes == 0 && next == entries.end(), "a walk visits all entries");
}

}  // namespace

void run_mst(ByteView input) {
  decode_node(input);
  change_tree(input);
}

}  // namespace skua::fuzz
