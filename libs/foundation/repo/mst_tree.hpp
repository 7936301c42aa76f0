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

/// Encoded blocks with their own bytes, in the order of their CIDs.
using OwnedBlocks = std::map<atproto::Cid, Bytes>;

/// A repository's tree in memory that can be changed (atproto.com/specs/repository#mst-structure).
/// Its shape depends only on its entries, so equal entries have equal roots.
///
/// A tree may be partial: a tree that was opened on the blocks of a commit keeps the CIDs of
/// subtrees whose nodes are missing, and changes outside of these subtrees succeed. Undoing a
/// commit's operations needs such a tree.
///
/// For one thread at a time. A tree can be moved and not copied. An operation that fails with an
/// error leaves the tree unspecified: discard the tree.
class MstTree {
 public:
  /// Makes an empty tree.
  MstTree();
  ~MstTree();
  MstTree(MstTree&&) noexcept;
  MstTree& operator=(MstTree&&) noexcept;

  /// Builds a tree from entries in key order without duplicates, faster than one `set` for each
  /// entry.
  static MstTree build(std::span<const std::pair<std::string, atproto::Cid>> entries);

  /// Opens a tree on existing blocks. Each node is decoded and checked when it is first needed.
  /// `blocks` and the bytes that it views must outlive the tree. Returns an error if the top node
  /// is missing or malformed.
  static Result<MstTree> open(const atproto::Cid& root, const BlockMap& blocks);

  /// Returns the value under a key, or nothing if the key is absent. Errors: mst_missing_node if
  /// the tree has no nodes for this key, or a malformed node.
  Result<std::optional<atproto::Cid>> get(std::string_view key);

  /// Inserts or replaces a value. Returns the previous value, or nothing if the key is new. Errors:
  /// those of `get`, and mst_too_large for a key of more than 1024 bytes.
  Result<std::optional<atproto::Cid>> set(std::string_view key, const atproto::Cid& value);

  /// Removes an entry. Returns the value that was removed, or nothing if the key was absent.
  Result<std::optional<atproto::Cid>> remove(std::string_view key);

  /// Returns the CID of the top node.
  atproto::Cid root();

  /// Encodes all nodes that are in memory. For a tree that was not opened on blocks these are all
  /// nodes.
  OwnedBlocks blocks();

  /// Adds to `out` the nodes that prove the value of `key` or its absence, and that allow a reader
  /// to invert an operation on the key. They are the paths to the key and to its neighbours on both
  /// sides.
  Result<void> add_proof(std::string_view key, OwnedBlocks& out);

 private:
  struct Node;
  struct Subtree;
  struct Split;
  struct Impl;

  explicit MstTree(const BlockMap* source);

  std::unique_ptr<Impl> impl_;
};

/// A whole tree in encoded form.
struct BuiltMst {
  atproto::Cid root;
  OwnedBlocks blocks;
};

/// Encodes the tree of these entries, which are in key order without duplicates. A tree that
/// changes later needs an MstTree.
BuiltMst build_mst(std::span<const std::pair<std::string, atproto::Cid>> entries);

}  // namespace skua::repo
