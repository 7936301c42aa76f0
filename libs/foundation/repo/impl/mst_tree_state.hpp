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

/// The subtree in the gap between two entries: nothing, a node of which only the CID is known, or a
/// node in memory. When a node in memory changes, its CID is forgotten.
struct MstTree::Subtree {
  std::unique_ptr<Node> node;
  std::optional<atproto::Cid> cid;

  bool empty() const { return !node && !cid; }
};

struct MstTree::Node {
  struct Entry {
    std::pmr::string key;
    atproto::Cid value;
    Subtree after;  // the subtree between this entry and the next
  };
  Subtree before;  // the subtree before the first entry
  std::vector<Entry> entries;

  bool empty() const { return entries.empty() && before.empty(); }

  /// Returns the index of the first entry that is not before `key`.
  std::size_t lower_bound(std::string_view key) const {
    const auto found =
        std::lower_bound(entries.begin(), entries.end(), key,
                         [](const Entry& entry, std::string_view k) { return entry.key < k; });
    return static_cast<std::size_t>(found - entries.begin());
  }
  bool has(std::size_t index, std::string_view key) const {
    return index < entries.size() && entries[index].key == key;
  }
  /// Returns the gap before the entry with this index. The last gap has the number of entries as
  /// its index.
  Subtree& gap(std::size_t index) { return index == 0 ? before : entries[index - 1].after; }
};

/// The two subtrees on both sides of a key.
struct MstTree::Split {
  Subtree before;
  Subtree after;
};

/// The tree's state, and the recursive steps. `level` is always the level of the subtree in the
/// argument, which is the depth of its keys.
struct MstTree::Impl {
  using Cid = atproto::Cid;

  /// The keys of a tree that was opened on blocks are in an arena that the tree owns, because most
  /// keys come with the nodes and all are freed together. The keys of a new tree are on the heap,
  /// because such a tree may live and change for a long time.
  explicit Impl(const BlockMap* blocks)
      : source(blocks), keys(blocks != nullptr ? &arena : std::pmr::new_delete_resource()) {}

  static constexpr std::size_t kArena = 4096;  // space for about a hundred keys

  const BlockMap* const source;
  std::pmr::monotonic_buffer_resource arena{kArena};
  const std::pmr::polymorphic_allocator<char> keys;
  /// The nodes that were loaded into memory. A key has one place, so a node has one place too. If
  /// two gaps name the same node, the tree is wrong. Without this check the node would be loaded
  /// for each gap, and a small block could fill the memory.
  boost::unordered_flat_set<atproto::Digest, DigestHash> loaded_nodes;
  Subtree top;  // has the level `height`; empty for a tree without entries
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

  // These functions load blocks into memory (mst_tree.cpp).

  /// Decodes the block of a node into the scratch memory of the thread.
  Result<const MstNode*> decode(const Cid& cid) const;
  /// Builds the node in memory with its complete keys, and checks their order, size and depth.
  Result<std::unique_ptr<Node>> unfold(const MstNode& encoded, int level) const;
  /// Loads the node of a subtree that is not empty.
  Result<void> load(Subtree& subtree, int level);
  /// Loads the top node. Only the top node shows the height of the tree, because its first key has
  /// no prefix.
  Result<void> open(const Cid& root);

  // These functions find and change entries (mst_tree.cpp).

  Result<std::optional<Cid>> get(Subtree& subtree, int level, std::string_view key);
  /// Splits a subtree at a key that is not in the subtree.
  Result<Split> split(Subtree subtree, int level, std::string_view key);
  /// Joins two subtrees of one level whose keys do not overlap.
  Result<Subtree> merge(Subtree a, Subtree b, int level);
  /// Inserts or replaces a value below `subtree`. The level of `subtree` is at least the key's
  /// depth.
  Result<std::optional<Cid>> set(Subtree& subtree, int level, int depth, std::string_view key,
                                 const Cid& value);
  /// Removes an entry below `subtree`, and all nodes that become empty.
  Result<std::optional<Cid>> remove(Subtree& subtree, int level, int depth, std::string_view key);
  /// Builds the node of entries whose depth is at most `level`.
  Subtree build(std::span<const std::pair<std::string, Cid>> entries, std::span<const int> depths,
                int level) const;
  /// Inserts or replaces a value in the whole tree. The tree becomes higher if the key's depth
  /// exceeds its height.
  Result<std::optional<Cid>> set(std::string_view key, const Cid& value);
  /// Removes an entry from the whole tree.
  Result<std::optional<Cid>> remove(std::string_view key);

  // These functions encode nodes into blocks (mst_tree.cpp).

  /// Returns the CID of a subtree that is not empty. Encodes the changed nodes first.
  static const Cid& cid_of(Subtree& subtree);
  /// Returns the block of a node. The block is in the scratch memory of the thread until the next
  /// node is decoded or encoded.
  static ByteView encode(Node& node);
  static void add_blocks(Subtree& subtree, OwnedBlocks& out);
  /// The side of the entry on which a proof's path continues below it.
  enum class Side { before, after };
  Result<void> add_path(Subtree& subtree, int level, std::string_view key, Side side,
                        OwnedBlocks& out);
};

/// Memory for decoding or encoding one node. Each thread has one object for all trees, because no
/// content is needed from one node to the next.
struct MstScratch {
  MstNode node;
  Bytes block;

  static MstScratch& of_this_thread() {
    thread_local MstScratch scratch;
    return scratch;
  }
};

}  // namespace skua::repo
