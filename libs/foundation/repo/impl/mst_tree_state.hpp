#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <memory_resource>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_set.hpp>

#include "atproto/cid.hpp"
#include "base/bytes.hpp"
#include "base/result.hpp"
#include "repo/mst_reader.hpp"
#include "repo/mst_tree.hpp"

namespace skua::repo {

/// What hangs in the gap between two entries: nothing, a node that is known by its CID only, or a
/// node in memory. The CID of a node in memory is forgotten when the node changes.
struct MstTree::Subtree {
  std::unique_ptr<Node> node;
  std::optional<atproto::Cid> cid;

  bool empty() const { return !node && !cid; }
};

struct MstTree::Node {
  struct Entry {
    std::pmr::string key;
    atproto::Cid value;
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
  using Cid = atproto::Cid;

  /// The keys of a tree that was opened on blocks lie in an arena that goes with it: most come with
  /// its nodes, and all are freed together. A tree that was made here may live and change for
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

  // From blocks into memory (mst_tree.cpp).

  /// Decodes the block of a node into the scratch memory of the thread.
  Result<const MstNode*> decode(const Cid& cid) const;
  /// The node in memory, its keys put together, and checked: their order, size and depth.
  Result<std::unique_ptr<Node>> unfold(const MstNode& encoded, int level) const;
  /// Brings the node of a subtree that is not empty into memory.
  Result<void> load(Subtree& subtree, int level);
  /// Brings the top node into memory, which alone tells how high the tree is: its first key is all
  /// suffix.
  Result<void> open(const Cid& root);

  // Look-ups and changes (mst_tree.cpp).

  Result<std::optional<Cid>> get(Subtree& subtree, int level, std::string_view key);
  /// Parts a subtree at a key that is not in it.
  Result<Split> split(Subtree subtree, int level, std::string_view key);
  /// Joins two subtrees of one level whose keys do not overlap.
  Result<Subtree> merge(Subtree a, Subtree b, int level);
  /// Inserts or replaces below `subtree`, whose level is not below the key's depth.
  Result<std::optional<Cid>> set(Subtree& subtree, int level, int depth, std::string_view key,
                                 const Cid& value);
  /// Removes below `subtree`; nodes that become empty go.
  Result<std::optional<Cid>> remove(Subtree& subtree, int level, int depth, std::string_view key);
  /// Builds the node of entries that have no greater depth than `level`.
  Subtree build(std::span<const std::pair<std::string, Cid>> entries, std::span<const int> depths,
                int level) const;
  /// Inserts or replaces in the whole tree, which becomes higher when the key stands above all.
  Result<std::optional<Cid>> set(std::string_view key, const Cid& value);
  /// Removes from the whole tree.
  Result<std::optional<Cid>> remove(std::string_view key);

  // From memory into blocks (mst_tree.cpp).

  /// The CID of a subtree that is not empty; nodes that were changed are encoded on the way.
  static const Cid& cid_of(Subtree& subtree);
  /// The block of a node; in the scratch memory of the thread, until the next is decoded or
  /// encoded.
  static ByteView encode(Node& node);
  static void add_blocks(Subtree& subtree, OwnedBlocks& out);
  /// Which way a proof's path goes on below the entry it is about.
  enum class Side { before, after };
  Result<void> add_path(Subtree& subtree, int level, std::string_view key, Side side,
                        OwnedBlocks& out);
};

/// Memory for decoding or encoding one node. Each thread has its own for all trees, because none of
/// it is needed from one node to the next.
struct MstScratch {
  MstNode node;
  Bytes block;

  static MstScratch& of_this_thread() {
    thread_local MstScratch scratch;
    return scratch;
  }
};

}  // namespace skua::repo
