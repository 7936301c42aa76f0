#include "repo/errc.hpp"
#include "repo/impl/mst_tree_state.hpp"
#include "repo/mst_reader.hpp"

// The nodes of a tree that was opened on blocks: decoded and checked when they are needed.

namespace skua::repo {

Result<const MstNode*> MstTree::Impl::decode(const Cid& cid) const {
  if (source == nullptr) return errc::mst_missing_node;
  const auto block = source->find(cid.digest);
  if (block == source->end()) return errc::mst_missing_node;
  MstNode& encoded = MstScratch::of_this_thread().node;
  if (const auto read = decode_mst_node(block->second, encoded); !read) return read.error();
  return &encoded;
}

Result<std::unique_ptr<MstTree::Node>> MstTree::Impl::unfold(const MstNode& encoded,
                                                             int level) const {
  if (level == 0 && encoded.left) return errc::mst_depth;
  auto node = std::make_unique<Node>();
  node->before = subtree_of(encoded.left);
  node->entries.reserve(encoded.entries.size());
  std::string_view previous;
  for (const MstNodeEntry& entry : encoded.entries) {
    if (entry.prefix > previous.size() || !entry.value) return errc::mst_malformed;
    if (entry.prefix + entry.suffix.size() > kMaxMstKey) return errc::mst_too_large;
    const std::string_view suffix = as_text(entry.suffix);
    if (!node->entries.empty() && suffix <= previous.substr(entry.prefix)) return errc::mst_order;
    std::pmr::string key(keys);
    key.reserve(entry.prefix + suffix.size());
    key.append(previous, 0, entry.prefix).append(suffix);
    if (mst_key_depth(key) != level || (level == 0 && entry.tree)) return errc::mst_depth;
    node->entries.push_back({std::move(key), *entry.value, subtree_of(entry.tree)});
    previous = node->entries.back().key;
  }
  if (node->empty()) return errc::mst_malformed;
  return node;
}

Result<void> MstTree::Impl::load(Subtree& subtree, int level) {
  if (subtree.node) return {};
  const auto encoded = decode(*subtree.cid);
  if (!encoded) return encoded.error();
  if (!loaded_nodes.insert(subtree.cid->digest).second) return errc::mst_malformed;
  auto node = unfold(**encoded, level);
  if (!node) return node.error();
  subtree.node = std::move(*node);
  return {};
}

Result<void> MstTree::Impl::open(const Cid& root) {
  const auto encoded = decode(root);
  if (!encoded) return encoded.error();
  const MstNode& node = **encoded;
  if (node.entries.empty()) {
    if (node.left) return errc::mst_malformed;
    return {};
  }
  height = mst_key_depth(as_text(node.entries.front().suffix));
  auto unfolded = unfold(node, height);
  if (!unfolded) return unfolded.error();
  top.node = std::move(*unfolded);
  top.cid = root;
  return {};
}

}  // namespace skua::repo
