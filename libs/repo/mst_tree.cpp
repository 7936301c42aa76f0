#include "repo/mst_tree.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <memory_resource>
#include <vector>

#include <boost/unordered/unordered_flat_set.hpp>

#include "repo/errc.hpp"
#include "repo/mst_node.hpp"
#include "repo/mst_reader.hpp"

namespace skua::repo {
namespace {

using atproto::Cid;

/// Memory for decoding or encoding one node. Each thread has its own for all trees, because none
/// of it is needed from one node to the next.
struct Scratch {
  MstNode node;
  Bytes block;
};

Scratch& scratch() {
  thread_local Scratch of_this_thread;
  return of_this_thread;
}

}  // namespace

/// What hangs in the gap between two entries: nothing, a node that is known by its CID only, or a
/// node in memory. The CID of a node in memory is forgotten when the node changes.
struct MstTree::Subtree {
  std::unique_ptr<Node> node;
  std::optional<Cid> cid;

  bool empty() const { return !node && !cid; }
};

struct MstTree::Node {
  struct Entry {
    std::pmr::string key;
    Cid value;
    Subtree after;  // between this entry and the next
  };
  Subtree before;  // before the first entry
  std::vector<Entry> entries;

  bool empty() const { return entries.empty() && before.empty(); }

  /// Index of the first entry that is not before `key`.
  std::size_t lower_bound(std::string_view key) const {
    const auto found =
        std::lower_bound(entries.begin(), entries.end(), key,
                         [](const Entry& entry, std::string_view k) { return entry.key < k; });
    return static_cast<std::size_t>(found - entries.begin());
  }
  bool has(std::size_t index, std::string_view key) const {
    return index < entries.size() && entries[index].key == key;
  }
  /// The gap before the entry with this index; with the number of entries, the last gap.
  Subtree& gap(std::size_t index) { return index == 0 ? before : entries[index - 1].after; }
};

/// What lies on both sides of a key.
struct MstTree::Split {
  Subtree before;
  Subtree after;
};

/// The tree's state, and the recursive steps. `level` is always that of the subtree at hand: the
/// depth of its keys.
struct MstTree::Impl {
  /// The keys of a tree that was opened on blocks lie in an arena that goes with it: most come with
  /// its nodes, and all are given up together. A tree that was made here may live and change for
  /// long: its keys are on the heap.
  explicit Impl(const BlockMap* blocks)
      : source(blocks), keys(blocks != nullptr ? &arena : std::pmr::new_delete_resource()) {}

  static constexpr std::size_t kArena = 4096;  // about a hundred keys

  const BlockMap* const source;
  std::pmr::monotonic_buffer_resource arena{kArena};
  const std::pmr::polymorphic_allocator<char> keys;
  /// The nodes that were brought into memory. A key has one place, and so has a node: one that
  /// hangs in two gaps is not only wrong, it would be unfolded for each, which is how a small block
  /// could fill the memory.
  boost::unordered_flat_set<atproto::Digest, DigestHash> loaded_nodes;
  Subtree top;  // of level `height`; empty for a tree without entries
  int height = 0;

  std::pmr::string make_key(std::string_view key) const { return std::pmr::string(key, keys); }

  static Subtree subtree_of(std::unique_ptr<Node> node) {
    Subtree subtree;
    if (!node->empty()) subtree.node = std::move(node);
    return subtree;
  }

  static Subtree subtree_of(const std::optional<Cid>& cid) {
    Subtree subtree;
    subtree.cid = cid;
    return subtree;
  }

  /// Decodes the block of a node into the scratch memory.
  Result<const MstNode*> decode(const Cid& cid) const {
    if (source == nullptr) return errc::mst_missing_node;
    const auto block = source->find(cid.digest);
    if (block == source->end()) return errc::mst_missing_node;
    MstNode& encoded = scratch().node;
    if (const auto read = decode_mst_node(block->second, encoded); !read) return read.error();
    return &encoded;
  }

  /// The node in memory, its keys put together, and checked: their order, size and depth.
  Result<std::unique_ptr<Node>> unfold(const MstNode& encoded, int level) const {
    if (level == 0 && encoded.left) return errc::mst_depth;
    auto node = std::make_unique<Node>();
    node->before = subtree_of(encoded.left);
    node->entries.reserve(encoded.entries.size());
    std::string_view previous;
    for (const MstNodeEntry& entry : encoded.entries) {
      if (entry.prefix > previous.size()) return errc::mst_malformed;
      if (entry.prefix + entry.suffix.size() > kMaxMstKey) return errc::mst_too_large;
      const std::string_view suffix = as_text(entry.suffix);
      if (!node->entries.empty() && suffix <= previous.substr(entry.prefix)) return errc::mst_order;
      std::pmr::string key(keys);
      key.reserve(entry.prefix + suffix.size());
      key.append(previous, 0, entry.prefix).append(suffix);
      if (mst_key_depth(key) != level || (level == 0 && entry.tree)) return errc::mst_depth;
      node->entries.push_back({std::move(key), entry.value, subtree_of(entry.tree)});
      previous = node->entries.back().key;
    }
    if (node->empty()) return errc::mst_malformed;
    return node;
  }

  /// Brings the node of a subtree that is not empty into memory.
  Result<void> load(Subtree& subtree, int level) {
    if (subtree.node) return {};
    const auto encoded = decode(*subtree.cid);
    if (!encoded) return encoded.error();
    if (!loaded_nodes.insert(subtree.cid->digest).second) return errc::mst_malformed;
    auto node = unfold(**encoded, level);
    if (!node) return node.error();
    subtree.node = std::move(*node);
    return {};
  }

  /// Brings the top node into memory, which alone tells how high the tree is: its first key is all
  /// suffix.
  Result<void> open(const Cid& root) {
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

  Result<std::optional<Cid>> get(Subtree& subtree, int level, std::string_view key) {
    if (subtree.empty()) return std::optional<Cid>();
    if (const auto loaded = load(subtree, level); !loaded) return loaded.error();
    Node& node = *subtree.node;
    const std::size_t index = node.lower_bound(key);
    if (node.has(index, key)) return std::optional(node.entries[index].value);
    if (level == 0) return std::optional<Cid>();
    return get(node.gap(index), level - 1, key);
  }

  /// Parts a subtree at a key that is not in it.
  Result<Split> split(Subtree subtree, int level, std::string_view key) {
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

  /// Joins two subtrees of one level whose keys do not overlap.
  Result<Subtree> merge(Subtree a, Subtree b, int level) {
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

  /// Inserts or replaces below `subtree`, whose level is not below the key's depth.
  Result<std::optional<Cid>> set(Subtree& subtree, int level, int depth, std::string_view key,
                                 const Cid& value) {
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

  /// Removes below `subtree`; nodes that become empty go.
  Result<std::optional<Cid>> remove(Subtree& subtree, int level, int depth, std::string_view key) {
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

  /// The CID of a subtree that is not empty; nodes that were changed are encoded on the way.
  static const Cid& cid_of(Subtree& subtree) {
    if (!subtree.cid) subtree.cid = Cid::of(encode(*subtree.node));
    return *subtree.cid;
  }

  /// The block of a node; in the scratch memory, until the next is decoded or encoded.
  static ByteView encode(Node& node) {
    // Those below first: they use the same memory.
    for (std::size_t i = 0; i <= node.entries.size(); ++i) {
      if (Subtree& below = node.gap(i); !below.empty()) cid_of(below);
    }
    auto& [encoded, block] = scratch();
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

  static Bytes bytes_of(ByteView view) { return {view.begin(), view.end()}; }

  static void add_blocks(Subtree& subtree, OwnedBlocks& out) {
    if (!subtree.node) return;
    const auto [place, is_new] = out.try_emplace(cid_of(subtree));
    if (is_new) place->second = bytes_of(encode(*subtree.node));
    add_blocks(subtree.node->before, out);
    for (Node::Entry& entry : subtree.node->entries) add_blocks(entry.after, out);
  }

  /// Which way a proof's path goes on below the entry it is about.
  enum class Side { before, after };

  Result<void> add_path(Subtree& subtree, int level, std::string_view key, Side side,
                        OwnedBlocks& out) {
    if (subtree.empty()) return {};
    if (const auto loaded = load(subtree, level); !loaded) return loaded.error();
    Node& node = *subtree.node;
    // Most of a proof's two paths is one, and so are the tops of all paths of a commit.
    const auto [place, is_new] = out.try_emplace(cid_of(subtree));
    if (is_new) place->second = bytes_of(encode(node));
    if (level == 0) return {};
    std::size_t index = node.lower_bound(key);
    if (side == Side::after && node.has(index, key)) ++index;
    return add_path(node.gap(index), level - 1, key, side, out);
  }

  /// Builds the node of entries that have no greater depth than `level`.
  Subtree build(std::span<const std::pair<std::string, Cid>> entries, std::span<const int> depths,
                int level) const {
    auto node = std::make_unique<Node>();
    std::size_t begin = 0;
    for (;;) {
      std::size_t end = begin;
      while (end < entries.size() && depths[end] != level) ++end;
      if (end > begin) {
        node->gap(node->entries.size()) = build(entries.subspan(begin, end - begin),
                                                depths.subspan(begin, end - begin), level - 1);
      }
      if (end == entries.size()) return subtree_of(std::move(node));
      node->entries.push_back({make_key(entries[end].first), entries[end].second, {}});
      begin = end + 1;
    }
  }

  /// Inserts or replaces in the whole tree, which becomes higher when the key stands above all.
  Result<std::optional<Cid>> set(std::string_view key, const Cid& value) {
    const int depth = mst_key_depth(key);
    if (top.empty()) height = depth;
    if (depth <= height) return set(top, height, depth, key, value);
    // Each half of the old tree goes under the key, through nodes without entries when more than
    // one level lies between.
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

  /// Removes from the whole tree.
  Result<std::optional<Cid>> remove(std::string_view key) {
    auto removed = remove(top, height, mst_key_depth(key), key);
    if (!removed || !*removed) return removed;
    // A top that only points further down is none. Where the node below is not in memory its block
    // is looked at; a node that is not there at all stays as it is.
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
};

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

}  // namespace skua::repo
