#include "repo/mst_builder.hpp"

namespace skua::repo {

BuiltMst build_mst(std::span<const std::pair<std::string, atproto::Cid>> entries) {
  MstTree tree = MstTree::build(entries);
  return {tree.root(), tree.blocks()};
}

}  // namespace skua::repo
