#include "repo/mst_tree.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <vector>

#include "repo/errc.hpp"
#include "repo/mst_node.hpp"
#include "repo/mst_reader.hpp"

namespace skua::repo {

using atproto::Cid;

/// What hangs in the gap between two entries: nothing, a node that is known by its CID only, or a
/// node in memory. The CID of a node in memory is forgotten when the node changes.
struct MstTree::Subtree {
  std::unique_ptr<Node> node;
  std::optional<Cid> cid;

  bool empty() const { return !node && !cid; }
};

struct MstTree::Node {
  struct Entry {
    std::string key;
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

/// Memory for decoding one node, used again for each.
struct MstTree::Scratch {
  MstNode node;
};

/// The recursive steps. `level` is always that of the subtree at hand: the depth of its keys.
struct MstTree::Operations {
  const BlockMap* source;
  Scratch* scratch;

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

  /// Brings the node of a subtree that is not empty into memory and checks it.
  Result<void> load(Subtree& subtree, int level) const {
    if (subtree.node) return {};
    if (source == nullptr) return errc::mst_missing_node;
    const auto block = source->find(subtree.cid->digest);
    if (block == source->end()) return errc::mst_missing_node;
    MstNode& encoded = scratch->node;
    if (const auto read = decode_mst_node(block->second, encoded); !read) {
      return read.error();
    }
    if (level == 0 && encoded.left) return errc::mst_depth;
    auto node = std::make_unique<Node>();
    node->before = subtree_of(encoded.left);
    node->entries.reserve(encoded.entries.size());
    std::string key;
    for (const MstNodeEntry& entry : encoded.entries) {
      if (entry.prefix > key.size()) return errc::mst_malformed;
      std::string next = key.substr(0, entry.prefix);
      next.append(as_text(entry.suffix));
      if (next.size() > kMaxMstKey) return errc::mst_too_large;
      if (!node->entries.empty() && next <= key) return errc::mst_order;
      if (mst_key_depth(next) != level || (level == 0 && entry.tree)) return errc::mst_depth;
      key = next;
      node->entries.push_back({std::move(next), entry.value, subtree_of(entry.tree)});
    }
    if (node->empty()) return errc::mst_malformed;
    subtree.node = std::move(node);
    return {};
  }

  Result<std::optional<Cid>> get(Subtree& subtree, int level, std::string_view key) const {
    if (subtree.empty()) return std::optional<Cid>();
    if (const auto loaded = load(subtree, level); !loaded) return loaded.error();
    Node& node = *subtree.node;
    const std::size_t index = node.lower_bound(key);
    if (node.has(index, key)) return std::optional(node.entries[index].value);
    if (level == 0) return std::optional<Cid>();
    return get(node.gap(index), level - 1, key);
  }

  /// Parts a subtree at a key that is not in it.
  Result<Split> split(Subtree subtree, int level, std::string_view key) const {
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
  Result<Subtree> merge(Subtree a, Subtree b, int level) const {
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
                                 const Cid& value) const {
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
                        {std::string(key), value, std::move(parts.after)});
    return std::optional<Cid>();
  }

  /// Removes below `subtree`; nodes that become empty go.
  Result<std::optional<Cid>> remove(Subtree& subtree, int level, int depth,
                                    std::string_view key) const {
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
  static Cid cid_of(Subtree& subtree) {
    if (!subtree.cid) subtree.cid = Cid::of(encode(*subtree.node));
    return *subtree.cid;
  }

  static Bytes encode(Node& node) {
    const auto reference = [](Subtree& subtree) {
      return subtree.empty() ? std::optional<Cid>() : std::optional(cid_of(subtree));
    };
    MstNode encoded;
    encoded.left = reference(node.before);
    encoded.entries.reserve(node.entries.size());
    std::string_view previous;
    for (Node::Entry& entry : node.entries) {
      const std::string_view key = entry.key;
      const std::size_t shared = mst_shared_prefix(previous, key);
      encoded.entries.push_back({static_cast<std::uint32_t>(shared), as_bytes(key.substr(shared)),
                                 entry.value, reference(entry.after)});
      previous = key;
    }
    return encode_mst_node(encoded);
  }

  static void add_blocks(Subtree& subtree, OwnedBlocks& out) {
    if (!subtree.node) return;
    out.try_emplace(cid_of(subtree), encode(*subtree.node));
    add_blocks(subtree.node->before, out);
    for (Node::Entry& entry : subtree.node->entries) add_blocks(entry.after, out);
  }

  /// Which way a proof's path goes on below the entry it is about.
  enum class Side { before, after };

  Result<void> add_path(Subtree& subtree, int level, std::string_view key, Side side,
                        OwnedBlocks& out) const {
    if (subtree.empty()) return {};
    if (const auto loaded = load(subtree, level); !loaded) return loaded.error();
    Node& node = *subtree.node;
    // Most of a proof's two paths is one, and so are the tops of all paths of a commit.
    const auto [place, is_new] = out.try_emplace(cid_of(subtree));
    if (is_new) place->second = encode(node);
    if (level == 0) return {};
    std::size_t index = node.lower_bound(key);
    if (side == Side::after && node.has(index, key)) ++index;
    return add_path(node.gap(index), level - 1, key, side, out);
  }

  /// Builds the node of entries that have no greater depth than `level`.
  static Subtree build(std::span<const std::pair<std::string, Cid>> entries,
                       std::span<const int> depths, int level) {
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
      node->entries.push_back({entries[end].first, entries[end].second, {}});
      begin = end + 1;
    }
  }
};

MstTree::MstTree() : top_(std::make_unique<Subtree>()) {}
MstTree::~MstTree() = default;
MstTree::MstTree(MstTree&&) noexcept = default;
MstTree& MstTree::operator=(MstTree&&) noexcept = default;

MstTree MstTree::build(std::span<const std::pair<std::string, Cid>> entries) {
  MstTree tree;
  if (entries.empty()) return tree;
  std::vector<int> depths;
  depths.reserve(entries.size());
  for (const auto& entry : entries) depths.push_back(mst_key_depth(entry.first));
  tree.height_ = *std::max_element(depths.begin(), depths.end());
  *tree.top_ = Operations::build(entries, depths, tree.height_);
  return tree;
}

Result<MstTree> MstTree::open(const Cid& root, const BlockMap& blocks) {
  const auto block = blocks.find(root.digest);
  if (block == blocks.end()) return errc::mst_missing_node;
  MstTree tree;
  tree.source_ = &blocks;
  tree.scratch_ = std::make_unique<Scratch>();
  const MstNode& encoded = tree.scratch_->node;
  const auto read = decode_mst_node(block->second, tree.scratch_->node);
  if (!read) return read.error();
  if (encoded.entries.empty()) {
    if (encoded.left) return errc::mst_malformed;
    return tree;
  }
  tree.height_ = mst_key_depth(as_text(encoded.entries.front().suffix));
  tree.top_->cid = root;
  const auto loaded = Operations{tree.source_, tree.scratch_.get()}.load(*tree.top_, tree.height_);
  if (!loaded) return loaded.error();
  return tree;
}

Result<std::optional<Cid>> MstTree::get(std::string_view key) {
  return Operations{source_, scratch_.get()}.get(*top_, height_, key);
}

Result<std::optional<Cid>> MstTree::set(std::string_view key, const Cid& value) {
  if (key.size() > kMaxMstKey) return errc::mst_too_large;
  const Operations operations{source_, scratch_.get()};
  const int depth = mst_key_depth(key);
  if (top_->empty()) {
    height_ = depth;
  } else if (depth > height_) {
    // The new key stands above all others: each half of the old tree goes under it, through nodes
    // without entries when more than one level lies between.
    auto parts = operations.split(std::move(*top_), height_, key);
    if (!parts) return parts.error();
    const auto raise = [&](Subtree half) {
      for (int level = height_ + 1; level < depth && !half.empty(); ++level) {
        auto bridge = std::make_unique<Node>();
        bridge->before = std::move(half);
        half = Operations::subtree_of(std::move(bridge));
      }
      return half;
    };
    auto node = std::make_unique<Node>();
    node->before = raise(std::move(parts->before));
    node->entries.push_back({std::string(key), value, raise(std::move(parts->after))});
    *top_ = Operations::subtree_of(std::move(node));
    height_ = depth;
    return std::optional<Cid>();
  }
  return operations.set(*top_, height_, depth, key, value);
}

Result<std::optional<Cid>> MstTree::remove(std::string_view key) {
  const Operations operations{source_, scratch_.get()};
  auto removed = operations.remove(*top_, height_, mst_key_depth(key), key);
  if (!removed || !*removed) return removed;
  // A top that only points further down is none. Where the node below is not in memory its block is
  // looked at; a node that is not there at all stays as it is.
  while (top_->node && top_->node->entries.empty()) {
    Subtree below = std::move(top_->node->before);
    *top_ = std::move(below);
    --height_;
    const auto loaded = operations.load(*top_, height_);
    if (!loaded && loaded.error() != errc::mst_missing_node) return loaded.error();
  }
  if (top_->empty()) height_ = 0;
  return removed;
}

Cid MstTree::root() {
  return top_->empty() ? Cid::of(encode_mst_node({})) : Operations::cid_of(*top_);
}

OwnedBlocks MstTree::blocks() {
  OwnedBlocks out;
  if (top_->empty()) {
    Bytes block = encode_mst_node({});
    out.emplace(Cid::of(block), std::move(block));
  }
  Operations::add_blocks(*top_, out);
  return out;
}

Result<void> MstTree::add_proof(std::string_view key, OwnedBlocks& out) {
  if (top_->empty()) {
    out.merge(blocks());
    return {};
  }
  const Operations operations{source_, scratch_.get()};
  using Side = Operations::Side;
  const auto before = operations.add_path(*top_, height_, key, Side::before, out);
  if (!before) return before;
  return operations.add_path(*top_, height_, key, Side::after, out);
}

}  // namespace skua::repo
