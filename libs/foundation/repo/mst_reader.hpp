#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "atproto/cid.hpp"
#include "base/bytes.hpp"
#include "base/result.hpp"
#include "repo/car.hpp"

namespace skua::repo {

/// Longest key that a tree may hold, in bytes.
constexpr std::size_t kMaxMstKey = 1024;

/// An entry of a tree node as it is encoded: the key is the first `prefix` bytes of the previous
/// entry's key in the same node, then `suffix`.
struct MstNodeEntry {
  std::uint32_t prefix = 0;
  ByteView suffix;  // into the block
  /// The record. Nothing: its CID has another codec or hash than those of repositories.
  std::optional<atproto::Cid> value;
  std::optional<atproto::Cid> tree;  // the subtree between this entry and the next
};

/// A tree node as it is encoded (atproto.com/specs/repository#mst-structure).
struct MstNode {
  std::optional<atproto::Cid> left;  // the subtree before the first entry
  std::vector<MstNodeEntry> entries;
};

/// Decodes a node's block. `out` is reused. Error: the block is not DAG-CBOR, or not a node; `out`
/// is then undefined. The caller checks the lengths of the prefixes when it assembles the keys.
Result<void> decode_mst_node(ByteView block, MstNode& out);

/// The number of bytes that two successive keys of a node share at their front: the `prefix` of the
/// second key.
std::size_t mst_shared_prefix(std::string_view previous, std::string_view key);

/// The block of a node. Each entry has a value.
Bytes encode_mst_node(const MstNode& node);

/// Appends the block of a node to a buffer.
void encode_mst_node(const MstNode& node, Bytes& out);

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
