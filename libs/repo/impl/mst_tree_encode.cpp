#include "repo/impl/mst_tree_state.hpp"

// The blocks and CIDs of a tree in memory, and the blocks of its proofs.

namespace skua::repo {
namespace {

Bytes owned_bytes(ByteView view) {
  return {view.begin(), view.end()};
}

}  // namespace

const atproto::Cid& MstTree::Impl::cid_of(Subtree& subtree) {
  if (!subtree.cid) subtree.cid = Cid::of(encode(*subtree.node));
  return *subtree.cid;
}

ByteView MstTree::Impl::encode(Node& node) {
  // Those below first: they use the same memory.
  for (std::size_t i = 0; i <= node.entries.size(); ++i) {
    if (Subtree& below = node.gap(i); !below.empty()) cid_of(below);
  }
  auto& [encoded, block] = MstScratch::of_this_thread();
  encoded.left = node.before.cid;
  encoded.entries.clear();
  std::string_view previous;
  for (const Node::Entry& entry : node.entries) {
    const std::string_view key = entry.key;
    const std::size_t shared = mst_shared_prefix(previous, key);
    encoded.entries.push_back({static_cast<std::uint32_t>(shared), as_bytes(key.substr(shared)),
                               entry.value, entry.after.cid});
    previous = key;
  }
  block.clear();
  encode_mst_node(encoded, block);
  return block;
}

void MstTree::Impl::add_blocks(Subtree& subtree, OwnedBlocks& out) {
  if (!subtree.node) return;
  const auto [place, is_new] = out.try_emplace(cid_of(subtree));
  if (is_new) place->second = owned_bytes(encode(*subtree.node));
  add_blocks(subtree.node->before, out);
  for (Node::Entry& entry : subtree.node->entries) add_blocks(entry.after, out);
}

Result<void> MstTree::Impl::add_path(Subtree& subtree, int level, std::string_view key, Side side,
                                     OwnedBlocks& out) {
  if (subtree.empty()) return {};
  if (const auto loaded = load(subtree, level); !loaded) return loaded.error();
  Node& node = *subtree.node;
  // Most of a proof's two paths is one, and so are the tops of all paths of a commit.
  const auto [place, is_new] = out.try_emplace(cid_of(subtree));
  if (is_new) place->second = owned_bytes(encode(node));
  if (level == 0) return {};
  std::size_t index = node.lower_bound(key);
  if (side == Side::after && node.has(index, key)) ++index;
  return add_path(node.gap(index), level - 1, key, side, out);
}

}  // namespace skua::repo
