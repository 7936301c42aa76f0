#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include "atproto/cid.hpp"
#include "base/bytes.hpp"
#include "base/result.hpp"
#include "repo/car_reader.hpp"

namespace skua::repo {

struct MstWalk {
  std::size_t entries = 0;
  /// Entries that were not visited, because their CID has another codec or hash than those of
  /// repositories.
  std::size_t unreadable = 0;
  std::size_t nodes = 0;
  /// Subtrees whose node is not among the blocks; their entries were not visited.
  std::size_t missing_nodes = 0;
};

/// The callbacks of a walk through a tree in key order.
class MstVisitor {
 public:
  virtual ~MstVisitor() = default;
  /// The next nodes of the walk, in order; an implementation may prefetch them.
  virtual void expect(std::span<const atproto::Digest> /*nodes*/) {}
  /// The block of a node, which must last until the walk ends; nothing when it is not there.
  virtual std::optional<ByteView> find(const atproto::Digest& digest) = 0;
  /// An entry. The key is whole, and valid during the call only.
  virtual void entry(std::string_view key, const atproto::Cid& value) = 0;
  /// A node was not found: the entries of its subtree would come next, and do not.
  virtual void missing_node() {}
};

/// Visits the entries of a tree (atproto.com/specs/repository#mst-structure) in key order. Checks
/// the properties that a hash does not prove: order, prefix lengths, depth of each key, children
/// exactly one level down, and limits of entries, depth and key size (1024 bytes). Error: a
/// malformed node. A missing node is counted and is not an error, because event streams contain
/// partial trees.
Result<MstWalk> walk_mst(const atproto::Cid& root, MstVisitor& visitor);

/// The same, over blocks in a map. `visit` gets the whole key, valid during the call only.
Result<MstWalk> walk_mst(
    const atproto::Cid& root, const BlockMap& blocks,
    const std::function<void(std::string_view key, const atproto::Cid& value)>& visit);

/// Depth of a key in the tree: leading zero bits of its SHA-256, in pairs.
int mst_key_depth(std::string_view key);

}  // namespace skua::repo
