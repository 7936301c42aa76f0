#include "repo/mst_reader.hpp"

#include <bit>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "repo/errc.hpp"
#include "repo/mst_node.hpp"

namespace skua::repo {
namespace {

using atproto::Cid;

/// A hundred times the records of the largest real repository.
constexpr std::size_t kMaxEntries = 100'000'000;

class Walker {
 public:
  explicit Walker(MstVisitor& visitor) : visitor_(visitor) {}

  Result<MstWalk> run(const Cid& root) {
    const auto block = find(root);
    if (!block) return walk_;
    Level& level = level_at(0);
    if (const auto read = decode(*block, level); !read) return read.error();
    if (level.node.entries.empty()) {
      // This is a repository without records. A top node with a subtree and no entries is
      // malformed.
      if (level.node.left) return errc::mst_malformed;
      return walk_;
    }
    // The key of the first entry of the top node shows the height of the tree. It has no prefix.
    const int height = mst_key_depth(as_text(level.node.entries.front().suffix));
    if (const auto read = walk_node(0, height); !read) return read.error();
    return walk_;
  }

 private:
  /// The current node at one distance from the top, and its last key. Reused for the next node.
  struct Level {
    MstNode node;
    std::string key;
  };

  // A deque, because references to levels must stay valid when a deeper level is added.
  Level& level_at(std::size_t distance) {
    while (levels_.size() <= distance) levels_.emplace_back();
    return levels_[distance];
  }

  std::optional<ByteView> find(const Cid& node) {
    const auto block = visitor_.find(node.digest);
    if (!block) {
      ++walk_.missing_nodes;
      visitor_.missing_node();
    }
    return block;
  }

  Result<void> decode(ByteView block, Level& level) {
    if (const auto read = decode_mst_node(block, level.node); !read) {
      return read.error();
    }
    level.key.clear();
    ++walk_.nodes;
    announce_children(level.node);
    return {};
  }

  void announce_children(const MstNode& node) {
    children_.clear();
    if (node.left) children_.push_back(node.left->digest);
    for (const MstNodeEntry& entry : node.entries) {
      if (entry.tree) children_.push_back(entry.tree->digest);
    }
    if (children_.size() > 1) visitor_.expect(children_);
  }

  /// Walks the node that was decoded into `levels_[distance]`, whose keys must have depth `height`.
  Result<void> walk_node(std::size_t distance, int height) {
    Level& level = levels_[distance];
    if (level.node.left) {
      if (const auto walked = walk_subtree(*level.node.left, distance + 1, height - 1); !walked) {
        return walked.error();
      }
    }
    for (const MstNodeEntry& entry : level.node.entries) {
      if (const auto taken = take_entry(entry, level, height); !taken) return taken.error();
      if (!entry.tree) continue;
      if (const auto walked = walk_subtree(*entry.tree, distance + 1, height - 1); !walked) {
        return walked.error();
      }
    }
    return {};
  }

  Result<void> take_entry(const MstNodeEntry& entry, Level& level, int height) {
    if (entry.prefix > level.key.size()) return errc::mst_malformed;
    level.key.resize(entry.prefix);
    level.key.append(as_text(entry.suffix));
    if (level.key.size() > kMaxMstKey) return errc::mst_too_large;
    if (walk_.entries + walk_.unreadable > 0 && level.key <= last_key_) return errc::mst_order;
    if (mst_key_depth(level.key) != height) return errc::mst_depth;
    ++(entry.value ? walk_.entries : walk_.unreadable);
    if (walk_.entries + walk_.unreadable > kMaxEntries) return errc::mst_too_large;
    last_key_ = level.key;
    if (entry.value) visitor_.entry(level.key, *entry.value);
    return {};
  }

  Result<void> walk_subtree(const Cid& cid, std::size_t distance, int height) {
    if (height < 0) return errc::mst_depth;
    const auto block = find(cid);
    if (!block) return {};
    Level& level = level_at(distance);
    if (const auto read = decode(*block, level); !read) return read.error();
    // A node without entries may bridge a gap between depths, but not end it.
    if (level.node.entries.empty() && !level.node.left) return errc::mst_malformed;
    return walk_node(distance, height);
  }

  MstVisitor& visitor_;
  MstWalk walk_;
  std::string last_key_;
  std::deque<Level> levels_;
  std::vector<atproto::Digest> children_;
};

/// Blocks from a map, entries to a function.
class MapVisitor final : public MstVisitor {
 public:
  using Visit = std::function<void(std::string_view, const Cid&)>;

  MapVisitor(const BlockMap& blocks, const Visit& visit) : blocks_(blocks), visit_(visit) {}

  std::optional<ByteView> find(const atproto::Digest& digest) override {
    const auto block = blocks_.find(digest);
    if (block == blocks_.end()) return std::nullopt;
    return block->second;
  }
  void entry(std::string_view key, const Cid& value) override { visit_(key, value); }

 private:
  const BlockMap& blocks_;
  const Visit& visit_;
};

}  // namespace

Result<MstWalk> walk_mst(const Cid& root, MstVisitor& visitor) {
  return Walker(visitor).run(root);
}

Result<MstWalk> walk_mst(const Cid& root, const BlockMap& blocks,
                         const std::function<void(std::string_view key, const Cid& value)>& visit) {
  MapVisitor visitor(blocks, visit);
  return walk_mst(root, visitor);
}

int mst_key_depth(std::string_view key) {
  const atproto::Digest digest = atproto::sha256(as_bytes(key));
  int zeros = 0;
  for (const std::uint8_t byte : digest) {
    zeros += std::countl_zero(byte);
    if (byte != 0) break;
  }
  return zeros / 2;
}

}  // namespace skua::repo
