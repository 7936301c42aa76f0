#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "atproto/cid.hpp"
#include "base/bytes.hpp"
#include "base/result.hpp"
#include "repo/car.hpp"

namespace skua::repo {

/// Encoded blocks that own their bytes, in the order of their CIDs.
using OwnedBlocks = std::map<atproto::Cid, Bytes>;

/// A repository's tree in memory that can be changed (atproto.com/specs/repository#mst-structure).
/// Its shape follows from its entries alone, so that equal entries give equal roots.
///
/// A tree may be partial: opened on the blocks that a commit carries, it keeps the CIDs of subtrees
/// whose nodes are not there, and changes that do not touch them succeed. That is what undoing a
/// commit's operations needs.
///
/// One thread at a time. Moves, does not copy. An operation that fails with an error leaves the
/// tree unspecified: drop it then.
class MstTree {
 public:
  /// An empty tree.
  MstTree();
  ~MstTree();
  MstTree(MstTree&&) noexcept;
  MstTree& operator=(MstTree&&) noexcept;

  /// Builds a tree from entries in key order without duplicates, faster than one `set` for each.
  static MstTree build(std::span<const std::pair<std::string, atproto::Cid>> entries);

  /// Opens a tree on existing blocks. It decodes and checks nodes when it first needs them;
  /// `blocks` and the bytes that it views must outlive the tree. Error: the top node is missing or
  /// malformed.
  static Result<MstTree> open(const atproto::Cid& root, const BlockMap& blocks);

  /// The value under a key, nothing when it is absent. Error: mst_missing_node when the tree is
  /// partial there, or a malformed node.
  Result<std::optional<atproto::Cid>> get(std::string_view key);

  /// Inserts or replaces; returns the value before, nothing when the key is new. Errors: as for
  /// `get`, and mst_too_large for a key of more than 1024 bytes.
  Result<std::optional<atproto::Cid>> set(std::string_view key, const atproto::Cid& value);

  /// Removes; returns the value that was removed, nothing when the key was absent.
  Result<std::optional<atproto::Cid>> remove(std::string_view key);

  /// The CID of the top node.
  atproto::Cid root();

  /// All nodes that are in memory, encoded: of a tree made here, the whole tree.
  OwnedBlocks blocks();

  /// Adds to `out` the nodes that prove the value of `key`, or its absence, and that allow a reader
  /// to invert an operation on it: the paths to the key and to its neighbours on both sides.
  Result<void> add_proof(std::string_view key, OwnedBlocks& out);

 private:
  struct Node;
  struct Subtree;
  struct Split;
  struct Impl;

  explicit MstTree(const BlockMap* source);

  std::unique_ptr<Impl> impl_;
};

/// A whole tree, encoded.
struct BuiltMst {
  atproto::Cid root;
  OwnedBlocks blocks;
};

/// Encodes the tree of these entries, which are in key order without duplicates. For a tree that
/// goes on changing see MstTree.
BuiltMst build_mst(std::span<const std::pair<std::string, atproto::Cid>> entries);

}  // namespace skua::repo
