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

/// The length in bytes of the longest key that a tree may contain.
constexpr std::size_t kMaxMstKey = 1024;

/// An entry of a tree node in encoded form. The key is the first `prefix` bytes of the previous
/// entry's key in the same node, then `suffix`.
struct MstNodeEntry {
  std::uint32_t prefix = 0;
  ByteView suffix;  // into the block
  /// The record. Absent if its CID has a codec or hash that repositories do not use.
  std::optional<atproto::Cid> value;
  std::optional<atproto::Cid> tree;  // the subtree between this entry and the next
};

/// A tree node in encoded form (atproto.com/specs/repository#mst-structure).
struct MstNode {
  std::optional<atproto::Cid> left;  // the subtree before the first entry
  std::vector<MstNodeEntry> entries;
};

/// Decodes a node's block. `out` is reused. Returns an error if the block is not DAG-CBOR or not a
/// node; `out` is then undefined. The caller checks the lengths of the prefixes when it assembles
/// the keys.
Result<void> decode_mst_node(ByteView block, MstNode& out);

/// Returns the number of bytes at the front that two successive keys of a node share. This number
/// is the `prefix` of the second key.
std::size_t mst_shared_prefix(std::string_view previous, std::string_view key);

/// Returns the block of a node. Each entry must have a value.
Bytes encode_mst_node(const MstNode& node);

/// Appends the block of a node to a buffer.
void encode_mst_node(const MstNode& node, Bytes& out);

struct MstWalk {
  std::size_t entries = 0;
  /// The number of entries that were not visited, because their CID has a codec or hash that
  /// repositories do not use.
  std::size_t unreadable = 0;
  std::size_t nodes = 0;
  /// The number of subtrees whose node is not among the blocks. Their entries were not visited.
  std::size_t missing_nodes = 0;
};

/// The callbacks of a walk through a tree in key order.
class MstVisitor {
 public:
  virtual ~MstVisitor() = default;
  /// Announces the next nodes of the walk, in order. An implementation may prefetch them.
  virtual void expect(std::span<const atproto::Digest> /*nodes*/) {}
  /// Returns the block of a node, which must stay valid until the walk ends, or nothing if the
  /// block is missing.
  virtual std::optional<ByteView> find(const atproto::Digest& digest) = 0;
  /// Reports an entry. The key is complete, and valid only during the call.
  virtual void entry(std::string_view key, const atproto::Cid& value) = 0;
  /// Reports a missing node. The entries of its subtree would come next, and are left out.
  virtual void missing_node() {}
};

/// Visits the entries of a tree (atproto.com/specs/repository#mst-structure) in key order. Checks
/// the properties that a hash does not prove: order, prefix lengths, depth of each key, children
/// exactly one level down, and limits of entries, depth and key size (1024 bytes). Returns an error
/// for a malformed node. A missing node is counted and is not an error, because event streams
/// contain partial trees.
Result<MstWalk> walk_mst(const atproto::Cid& root, MstVisitor& visitor);

/// Walks a tree whose blocks are in a map. `visit` gets the complete key, which is valid only
/// during the call.
Result<MstWalk> walk_mst(
    const atproto::Cid& root, const BlockMap& blocks,
    const std::function<void(std::string_view key, const atproto::Cid& value)>& visit);

/// Returns the depth of a key in the tree: the number of leading zero bits of its SHA-256, in
/// pairs.
int mst_key_depth(std::string_view key);

}  // namespace skua::repo
