#pragma once

#include <functional>
#include <string_view>

#include "atproto/cid.hpp"
#include "base/result.hpp"
#include "repo/car_reader.hpp"

namespace skua::repo {

struct MstWalk {
  std::size_t entries = 0;
  std::size_t nodes = 0;
  /// Subtrees whose node is not among the blocks; what they hold was not visited.
  std::size_t missing_nodes = 0;
};

/// Visits the entries of a tree (atproto.com/specs/repository#mst-structure) in key order and
/// checks what a hash cannot: order, prefix lengths, depth of each key, children exactly one level
/// down, caps on entries, depth and key size (1024 bytes). `visit` gets the whole key, valid during
/// the call only. Error: a malformed node. A missing node is counted, not an error: event streams
/// carry partial trees.
Result<MstWalk> walk_mst(
    const atproto::Cid& root, const BlockMap& blocks,
    const std::function<void(std::string_view key, const atproto::Cid& value)>& visit);

/// Depth of a key in the tree: leading zero bits of its SHA-256, in pairs.
int mst_key_depth(std::string_view key);

}  // namespace skua::repo
