#pragma once

#include <span>
#include <string>
#include <utility>

#include "atproto/cid.hpp"
#include "repo/mst_tree.hpp"

namespace skua::repo {

/// A whole tree, encoded.
struct BuiltMst {
  atproto::Cid root;
  OwnedBlocks blocks;
};

/// Encodes the tree of these entries, which are in key order without duplicates. For a tree that
/// goes on changing see MstTree.
BuiltMst build_mst(std::span<const std::pair<std::string, atproto::Cid>> entries);

}  // namespace skua::repo
