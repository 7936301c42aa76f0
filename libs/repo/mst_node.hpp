#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "atproto/cid.hpp"
#include "base/bytes.hpp"
#include "base/result.hpp"

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

}  // namespace skua::repo
