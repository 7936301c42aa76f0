#include "repo/mst_tree.hpp"

#include <algorithm>
#include <vector>

#include "repo/errc.hpp"
#include "repo/impl/mst_tree_state.hpp"
#include "repo/mst_node.hpp"
#include "repo/mst_reader.hpp"

namespace skua::repo {

using atproto::Cid;

MstTree::MstTree() : MstTree(nullptr) {}
MstTree::MstTree(const BlockMap* source) : impl_(std::make_unique<Impl>(source)) {}
MstTree::~MstTree() = default;
MstTree::MstTree(MstTree&&) noexcept = default;
MstTree& MstTree::operator=(MstTree&&) noexcept = default;

MstTree MstTree::build(std::span<const std::pair<std::string, Cid>> entries) {
  MstTree tree;
  if (entries.empty()) return tree;
  std::vector<int> depths;
  depths.reserve(entries.size());
  for (const auto& entry : entries) depths.push_back(mst_key_depth(entry.first));
  const int height = *std::max_element(depths.begin(), depths.end());
  tree.impl_->height = height;
  tree.impl_->top = tree.impl_->build(entries, depths, height);
  return tree;
}

Result<MstTree> MstTree::open(const Cid& root, const BlockMap& blocks) {
  MstTree tree(&blocks);
  if (const auto opened = tree.impl_->open(root); !opened) return opened.error();
  return tree;
}

Result<std::optional<Cid>> MstTree::get(std::string_view key) {
  return impl_->get(impl_->top, impl_->height, key);
}

Result<std::optional<Cid>> MstTree::set(std::string_view key, const Cid& value) {
  if (key.size() > kMaxMstKey) return errc::mst_too_large;
  return impl_->set(key, value);
}

Result<std::optional<Cid>> MstTree::remove(std::string_view key) {
  return impl_->remove(key);
}

Cid MstTree::root() {
  return impl_->top.empty() ? Cid::of(encode_mst_node({})) : Impl::cid_of(impl_->top);
}

OwnedBlocks MstTree::blocks() {
  OwnedBlocks out;
  if (impl_->top.empty()) {
    Bytes block = encode_mst_node({});
    out.emplace(Cid::of(block), std::move(block));
  }
  Impl::add_blocks(impl_->top, out);
  return out;
}

Result<void> MstTree::add_proof(std::string_view key, OwnedBlocks& out) {
  if (impl_->top.empty()) {
    out.merge(blocks());
    return {};
  }
  using Side = Impl::Side;
  const auto before = impl_->add_path(impl_->top, impl_->height, key, Side::before, out);
  if (!before) return before;
  return impl_->add_path(impl_->top, impl_->height, key, Side::after, out);
}

}  // namespace skua::repo
