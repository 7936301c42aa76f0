#include <iterator>

#include "repo/errc.hpp"
#include "repo/impl/mst_tree_state.hpp"
#include "repo/mst_reader.hpp"

// Look-ups and changes of a tree in memory.

namespace skua::repo {

Result<std::optional<atproto::Cid>> MstTree::Impl::get(Subtree& subtree, int level,
                                                       std::string_view key) {
  if (subtree.empty()) return std::optional<Cid>();
  if (const auto loaded = load(subtree, level); !loaded) return loaded.error();
  Node& node = *subtree.node;
  const std::size_t index = node.lower_bound(key);
  if (node.has(index, key)) return std::optional(node.entries[index].value);
  if (level == 0) return std::optional<Cid>();
  return get(node.gap(index), level - 1, key);
}

Result<MstTree::Split> MstTree::Impl::split(Subtree subtree, int level, std::string_view key) {
  Split result;
  if (subtree.empty()) return result;
  if (const auto loaded = load(subtree, level); !loaded) return loaded.error();
  auto left = std::move(subtree.node);
  const std::size_t index = left->lower_bound(key);
  if (left->has(index, key)) return errc::mst_depth;
  auto right = std::make_unique<Node>();
  if (level > 0) {
    auto inner = split(std::move(left->gap(index)), level - 1, key);
    if (!inner) return inner.error();
    left->gap(index) = std::move(inner->before);
    right->before = std::move(inner->after);
  }
  const auto boundary = left->entries.begin() + static_cast<std::ptrdiff_t>(index);
  right->entries.assign(std::make_move_iterator(boundary),
                        std::make_move_iterator(left->entries.end()));
  left->entries.erase(boundary, left->entries.end());
  result.before = subtree_of(std::move(left));
  result.after = subtree_of(std::move(right));
  return result;
}

Result<MstTree::Subtree> MstTree::Impl::merge(Subtree a, Subtree b, int level) {
  if (a.empty()) return b;
  if (b.empty()) return a;
  if (const auto loaded = load(a, level); !loaded) return loaded.error();
  if (const auto loaded = load(b, level); !loaded) return loaded.error();
  auto left = std::move(a.node);
  auto right = std::move(b.node);
  if (level > 0) {
    Subtree& last = left->gap(left->entries.size());
    auto inner = merge(std::move(last), std::move(right->before), level - 1);
    if (!inner) return inner.error();
    last = std::move(*inner);
  }
  std::move(right->entries.begin(), right->entries.end(), std::back_inserter(left->entries));
  return subtree_of(std::move(left));
}

Result<std::optional<atproto::Cid>> MstTree::Impl::set(Subtree& subtree, int level, int depth,
                                                       std::string_view key, const Cid& value) {
  if (subtree.empty()) {
    subtree.node = std::make_unique<Node>();
  } else if (const auto loaded = load(subtree, level); !loaded) {
    return loaded.error();
  }
  subtree.cid.reset();
  Node& node = *subtree.node;
  const std::size_t index = node.lower_bound(key);
  if (level > depth) return set(node.gap(index), level - 1, depth, key, value);
  if (node.has(index, key)) return std::optional(std::exchange(node.entries[index].value, value));

  Split parts;
  if (level > 0) {
    auto split_gap = split(std::move(node.gap(index)), level - 1, key);
    if (!split_gap) return split_gap.error();
    parts = std::move(*split_gap);
  }
  node.gap(index) = std::move(parts.before);
  node.entries.insert(node.entries.begin() + static_cast<std::ptrdiff_t>(index),
                      {make_key(key), value, std::move(parts.after)});
  return std::optional<Cid>();
}

Result<std::optional<atproto::Cid>> MstTree::Impl::remove(Subtree& subtree, int level, int depth,
                                                          std::string_view key) {
  if (subtree.empty() || level < depth) return std::optional<Cid>();
  if (const auto loaded = load(subtree, level); !loaded) return loaded.error();
  Node& node = *subtree.node;
  const std::size_t index = node.lower_bound(key);
  std::optional<Cid> removed;
  if (level > depth) {
    const auto below = remove(node.gap(index), level - 1, depth, key);
    if (!below || !*below) return below;
    removed = *below;
  } else {
    if (!node.has(index, key)) return removed;
    removed = node.entries[index].value;
    if (level > 0) {
      auto joined =
          merge(std::move(node.gap(index)), std::move(node.entries[index].after), level - 1);
      if (!joined) return joined.error();
      node.gap(index) = std::move(*joined);
    }
    node.entries.erase(node.entries.begin() + static_cast<std::ptrdiff_t>(index));
  }
  subtree.cid.reset();
  if (node.empty()) subtree.node.reset();
  return removed;
}

MstTree::Subtree MstTree::Impl::build(std::span<const std::pair<std::string, Cid>> entries,
                                      std::span<const int> depths, int level) const {
  auto node = std::make_unique<Node>();
  std::size_t begin = 0;
  for (;;) {
    std::size_t end = begin;
    while (end < entries.size() && depths[end] != level) ++end;
    if (end > begin) {
      node->gap(node->entries.size()) =
          build(entries.subspan(begin, end - begin), depths.subspan(begin, end - begin), level - 1);
    }
    if (end == entries.size()) return subtree_of(std::move(node));
    node->entries.push_back({make_key(entries[end].first), entries[end].second, {}});
    begin = end + 1;
  }
}

Result<std::optional<atproto::Cid>> MstTree::Impl::set(std::string_view key, const Cid& value) {
  const int depth = mst_key_depth(key);
  if (top.empty()) height = depth;
  if (depth <= height) return set(top, height, depth, key, value);
  // Each half of the old tree goes under the key, through nodes without entries when more than
  // one level lies between.
  auto parts = split(std::move(top), height, key);
  if (!parts) return parts.error();
  const auto raise = [&](Subtree half) {
    for (int level = height + 1; level < depth && !half.empty(); ++level) {
      auto bridge = std::make_unique<Node>();
      bridge->before = std::move(half);
      half = subtree_of(std::move(bridge));
    }
    return half;
  };
  auto node = std::make_unique<Node>();
  node->before = raise(std::move(parts->before));
  node->entries.push_back({make_key(key), value, raise(std::move(parts->after))});
  top = subtree_of(std::move(node));
  height = depth;
  return std::optional<Cid>();
}

Result<std::optional<atproto::Cid>> MstTree::Impl::remove(std::string_view key) {
  auto removed = remove(top, height, mst_key_depth(key), key);
  if (!removed || !*removed) return removed;
  // A top that only points further down is none. Where the node below is not in memory its block
  // is looked at; a node that is not there at all stays as it is.
  while (top.node && top.node->entries.empty()) {
    Subtree below = std::move(top.node->before);
    top = std::move(below);
    --height;
    const auto loaded = load(top, height);
    if (!loaded && loaded.error() != errc::mst_missing_node) return loaded.error();
  }
  if (top.empty()) height = 0;
  return removed;
}

}  // namespace skua::repo
