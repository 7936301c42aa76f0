#include "repo/mst_tree.hpp"

#include <algorithm>
#include <iterator>
#include <vector>

#include "repo/errc.hpp"
#include "repo/impl/mst_tree_state.hpp"
#include "repo/mst_reader.hpp"

namespace skua::repo {

namespace {

Bytes owned_bytes(ByteView view) {
  return {view.begin(), view.end()};
}

}  // namespace

using atproto::Cid;

MstTree::MstTree() : MstTree(nullptr) {}
MstTree::MstTree(const BlockMap* source) : impl_(std::make_unique<Impl>(source)) {}
MstTree::~MstTree() = default;
MstTree::MstTree(MstTree&&) noexcept = default;
MstTree& MstTree::operator=(MstTree&&) noexcept = default;

MstTree MstTree::build(std::span<const std::pair<std::string, Cid>> entries) {
  MstTree tree;
  if (entries.empty()) return tree;
  std::vector<int> depths;
  depths.reserve(entries.size());
  for (const auto& entry : entries) depths.push_back(mst_key_depth(entry.first));
  const int height = *std::max_element(depths.begin(), depths.end());
  tree.impl_->height = height;
  tree.impl_->top = tree.impl_->build(entries, depths, height);
  return tree;
}

Result<MstTree> MstTree::open(const Cid& root, const BlockMap& blocks) {
  MstTree tree(&blocks);
  if (const auto opened = tree.impl_->open(root); !opened) return opened.error();
  return tree;
}

Result<std::optional<Cid>> MstTree::get(std::string_view key) {
  return impl_->get(impl_->top, impl_->height, key);
}

Result<std::optional<Cid>> MstTree::set(std::string_view key, const Cid& value) {
  if (key.size() > kMaxMstKey) return errc::mst_too_large;
  return impl_->set(key, value);
}

Result<std::optional<Cid>> MstTree::remove(std::string_view key) {
  return impl_->remove(key);
}

Cid MstTree::root() {
  return impl_->top.empty() ? Cid::of(encode_mst_node({})) : Impl::cid_of(impl_->top);
}

OwnedBlocks MstTree::blocks() {
  OwnedBlocks out;
  if (impl_->top.empty()) {
    Bytes block = encode_mst_node({});
    out.emplace(Cid::of(block), std::move(block));
  }
  Impl::add_blocks(impl_->top, out);
  return out;
}

Result<void> MstTree::add_proof(std::string_view key, OwnedBlocks& out) {
  if (impl_->top.empty()) {
    out.merge(blocks());
    return {};
  }
  using Side = Impl::Side;
  const auto before = impl_->add_path(impl_->top, impl_->height, key, Side::before, out);
  if (!before) return before;
  return impl_->add_path(impl_->top, impl_->height, key, Side::after, out);
}

// These functions decode and check the nodes of a tree that was opened on blocks, when the nodes
// are needed.

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

// These functions find and change entries of a tree in memory.

Result<std::optional<atproto::Cid>> MstTree::Impl::get(Subtree& subtree, int level,
                                                       std::string_view key) {
  if (subtree.empty()) return std::optional<Cid>();
  if (const auto loaded = load(subtree, level); !loaded) return loaded.error();
  Node& node = *subtree.node;
  const std::size_t index = node.lower_bound(key);
  if (node.has(index, key)) return std::optional(node.entries[index].value);
  if (level == 0) return std::optional<Cid>();
  return get(node.gap(index), level - 1, key);
}

Result<MstTree::Split> MstTree::Impl::split(Subtree subtree, int level, std::string_view key) {
  Split result;
  if (subtree.empty()) return result;
  if (const auto loaded = load(subtree, level); !loaded) return loaded.error();
  auto left = std::move(subtree.node);
  const std::size_t index = left->lower_bound(key);
  if (left->has(index, key)) return errc::mst_depth;
  auto right = std::make_unique<Node>();
  if (level > 0) {
    auto inner = split(std::move(left->gap(index)), level - 1, key);
    if (!inner) return inner.error();
    left->gap(index) = std::move(inner->before);
    right->before = std::move(inner->after);
  }
  const auto boundary = left->entries.begin() + static_cast<std::ptrdiff_t>(index);
  right->entries.assign(std::make_move_iterator(boundary),
                        std::make_move_iterator(left->entries.end()));
  left->entries.erase(boundary, left->entries.end());
  result.before = subtree_of(std::move(left));
  result.after = subtree_of(std::move(right));
  return result;
}

Result<MstTree::Subtree> MstTree::Impl::merge(Subtree a, Subtree b, int level) {
  if (a.empty()) return b;
  if (b.empty()) return a;
  if (const auto loaded = load(a, level); !loaded) return loaded.error();
  if (const auto loaded = load(b, level); !loaded) return loaded.error();
  auto left = std::move(a.node);
  auto right = std::move(b.node);
  if (level > 0) {
    Subtree& last = left->gap(left->entries.size());
    auto inner = merge(std::move(last), std::move(right->before), level - 1);
    if (!inner) return inner.error();
    last = std::move(*inner);
  }
  std::move(right->entries.begin(), right->entries.end(), std::back_inserter(left->entries));
  return subtree_of(std::move(left));
}

Result<std::optional<atproto::Cid>> MstTree::Impl::set(Subtree& subtree, int level, int depth,
                                                       std::string_view key, const Cid& value) {
  if (subtree.empty()) {
    subtree.node = std::make_unique<Node>();
  } else if (const auto loaded = load(subtree, level); !loaded) {
    return loaded.error();
  }
  subtree.cid.reset();
  Node& node = *subtree.node;
  const std::size_t index = node.lower_bound(key);
  if (level > depth) return set(node.gap(index), level - 1, depth, key, value);
  if (node.has(index, key)) return std::optional(std::exchange(node.entries[index].value, value));

  Split parts;
  if (level > 0) {
    auto split_gap = split(std::move(node.gap(index)), level - 1, key);
    if (!split_gap) return split_gap.error();
    parts = std::move(*split_gap);
  }
  node.gap(index) = std::move(parts.before);
  node.entries.insert(node.entries.begin() + static_cast<std::ptrdiff_t>(index),
                      {make_key(key), value, std::move(parts.after)});
  return std::optional<Cid>();
}

Result<std::optional<atproto::Cid>> MstTree::Impl::remove(Subtree& subtree, int level, int depth,
                                                          std::string_view key) {
  if (subtree.empty() || level < depth) return std::optional<Cid>();
  if (const auto loaded = load(subtree, level); !loaded) return loaded.error();
  Node& node = *subtree.node;
  const std::size_t index = node.lower_bound(key);
  std::optional<Cid> removed;
  if (level > depth) {
    const auto below = remove(node.gap(index), level - 1, depth, key);
    if (!below || !*below) return below;
    removed = *below;
  } else {
    if (!node.has(index, key)) return removed;
    removed = node.entries[index].value;
    if (level > 0) {
      auto joined =
          merge(std::move(node.gap(index)), std::move(node.entries[index].after), level - 1);
      if (!joined) return joined.error();
      node.gap(index) = std::move(*joined);
    }
    node.entries.erase(node.entries.begin() + static_cast<std::ptrdiff_t>(index));
  }
  subtree.cid.reset();
  if (node.empty()) subtree.node.reset();
  return removed;
}

MstTree::Subtree MstTree::Impl::build(std::span<const std::pair<std::string, Cid>> entries,
                                      std::span<const int> depths, int level) const {
  auto node = std::make_unique<Node>();
  std::size_t begin = 0;
  for (;;) {
    std::size_t end = begin;
    while (end < entries.size() && depths[end] != level) ++end;
    if (end > begin) {
      node->gap(node->entries.size()) =
          build(entries.subspan(begin, end - begin), depths.subspan(begin, end - begin), level - 1);
    }
    if (end == entries.size()) return subtree_of(std::move(node));
    node->entries.push_back({make_key(entries[end].first), entries[end].second, {}});
    begin = end + 1;
  }
}

Result<std::optional<atproto::Cid>> MstTree::Impl::set(std::string_view key, const Cid& value) {
  const int depth = mst_key_depth(key);
  if (top.empty()) height = depth;
  if (depth <= height) return set(top, height, depth, key, value);
  // Each half of the old tree goes below the key. If more than one level lies between them, nodes
  // without entries bridge the gap.
  auto parts = split(std::move(top), height, key);
  if (!parts) return parts.error();
  const auto raise = [&](Subtree half) {
    for (int level = height + 1; level < depth && !half.empty(); ++level) {
      auto bridge = std::make_unique<Node>();
      bridge->before = std::move(half);
      half = subtree_of(std::move(bridge));
    }
    return half;
  };
  auto node = std::make_unique<Node>();
  node->before = raise(std::move(parts->before));
  node->entries.push_back({make_key(key), value, raise(std::move(parts->after))});
  top = subtree_of(std::move(node));
  height = depth;
  return std::optional<Cid>();
}

Result<std::optional<atproto::Cid>> MstTree::Impl::remove(std::string_view key) {
  auto removed = remove(top, height, mst_key_depth(key), key);
  if (!removed || !*removed) return removed;
  // A top node without entries that only points to a lower node is removed. If the lower node is
  // not in memory, its block is read. If the block is missing, the top node stays unchanged.
  while (top.node && top.node->entries.empty()) {
    Subtree below = std::move(top.node->before);
    top = std::move(below);
    --height;
    const auto loaded = load(top, height);
    if (!loaded && loaded.error() != errc::mst_missing_node) return loaded.error();
  }
  if (top.empty()) height = 0;
  return removed;
}

// These functions make the blocks and CIDs of a tree in memory, and the blocks of its proofs.

const atproto::Cid& MstTree::Impl::cid_of(Subtree& subtree) {
  if (!subtree.cid) subtree.cid = Cid::of(encode(*subtree.node));
  return *subtree.cid;
}

ByteView MstTree::Impl::encode(Node& node) {
  // Encodes the lower nodes first, because they use the same scratch memory.
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
  // Most nodes of a proof's two paths are equal, and all paths of a commit share the top nodes.
  const auto [place, is_new] = out.try_emplace(cid_of(subtree));
  if (is_new) place->second = owned_bytes(encode(node));
  if (level == 0) return {};
  std::size_t index = node.lower_bound(key);
  if (side == Side::after && node.has(index, key)) ++index;
  return add_path(node.gap(index), level - 1, key, side, out);
}

BuiltMst build_mst(std::span<const std::pair<std::string, atproto::Cid>> entries) {
  MstTree tree = MstTree::build(entries);
  return {tree.root(), tree.blocks()};
}

}  // namespace skua::repo
