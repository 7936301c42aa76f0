#include "repo/mst_reader.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <deque>
#include <string>
#include <vector>

#include "atproto/data_model.hpp"
#include "repo/cbor_head.hpp"
#include "repo/cbor_item.hpp"
#include "repo/dag_cbor.hpp"
#include "repo/errc.hpp"

namespace skua::repo {

namespace {

using atproto::Cid;

// The specification fixes the fields of a node and their order, and DAG-CBOR fixes their encoding.
// So most of a block is fixed bytes, which are read and written directly. A Document would need a
// hundred items a node and only cost time.
template <std::size_t N>
using Fixed = std::array<std::uint8_t, N>;
constexpr Fixed<3> kNode = {0xa2, 0x61, 'e'};   // a map of two and its first key
constexpr Fixed<2> kLeft = {0x61, 'l'};         // the second key of a node
constexpr Fixed<3> kEntry = {0xa4, 0x61, 'k'};  // a map of four and its first key
constexpr Fixed<2> kPrefix = {0x61, 'p'};
constexpr Fixed<2> kTree = {0x61, 't'};
constexpr Fixed<2> kValue = {0x61, 'v'};
constexpr Fixed<1> kNoTree = {kCborNull};
// A link begins with tag 42, the head of 37 bytes, and the multibase prefix 00. The CID follows.
constexpr Fixed<2> kTag = {0xd8, 42};
constexpr Fixed<5> kLink = {0xd8, 42, 0x58, 37, 0};

/// Reads a node from front to back. Each function returns false if the bytes have another content.
class NodeReader {
 public:
  explicit NodeReader(ByteView block) : rest_(block) {}

  /// Reads the whole block.
  bool read(MstNode& out) {
    std::uint64_t entries = 0;
    if (!fixed(kNode) || !head(CborMajor::list, entries) || entries > rest_.size() / kMinEntry)
      return false;
    out.entries.resize(entries);
    for (MstNodeEntry& entry : out.entries) {
      if (!read_entry(entry)) return false;
    }
    return fixed(kLeft) && subtree(out.left) && rest_.empty();
  }

 private:
  /// The smallest entry: a map's head, its four keys, a link, and one byte for each other value.
  static constexpr std::size_t kMinEntry = 53;

  bool read_entry(MstNodeEntry& out) {
    return fixed(kEntry) && bytes(out.suffix) && fixed(kPrefix) && prefix(out.prefix) &&
           fixed(kTree) && subtree(out.tree) && fixed(kValue) && value(out.value);
  }

  bool prefix(std::uint32_t& out) {
    std::uint64_t length = 0;
    if (!head(CborMajor::unsigned_integer, length) || length > kMaxMstKey) return false;
    out = static_cast<std::uint32_t>(length);
    return true;
  }

  /// Reads the link of an entry. Skips a link of another form.
  bool value(std::optional<Cid>& out) {
    const ByteView before = rest_;
    if (link(out.emplace())) return true;
    out.reset();
    rest_ = before;
    ByteView bytes_of_link;
    return fixed(kTag) && bytes(bytes_of_link) && bytes_of_link.size() > 1 &&
           bytes_of_link.front() == 0 &&
           Cid::size_of_any(bytes_of_link.subspan(1)) == bytes_of_link.size() - 1;
  }

  template <std::size_t N>
  bool fixed(const Fixed<N>& expected) {
    if (rest_.size() < N || std::memcmp(rest_.data(), expected.data(), N) != 0) return false;
    rest_ = rest_.subspan(N);
    return true;
  }

  /// Reads the head of an item in its shortest form.
  bool head(CborMajor major, std::uint64_t& argument) {
    CborHead head;
    if (read_cbor_head(rest_, head) != CborHeadError::None) return false;
    argument = head.argument;
    return head.major == major && head.is_shortest;
  }

  bool bytes(ByteView& out) {
    std::uint64_t size = 0;
    if (!head(CborMajor::bytes, size) || size > rest_.size()) return false;
    out = rest_.first(size);
    rest_ = rest_.subspan(size);
    return true;
  }

  bool link(Cid& out) {
    if (!fixed(kLink) || rest_.size() < Cid::kBinarySize ||
        !Cid::is_binary(rest_.first(Cid::kBinarySize))) {
      return false;
    }
    out = Cid::from_trusted_bytes(rest_.data());
    rest_ = rest_.subspan(Cid::kBinarySize);
    return true;
  }

  /// Reads a link or null.
  bool subtree(std::optional<Cid>& out) {
    if (!fixed(kNoTree)) return link(out.emplace());
    out.reset();
    return true;
  }

  ByteView rest_;
};

/// Appends a node to a buffer, through a pointer. The buffer gets room for the longest form once.
class NodeWriter {
 public:
  NodeWriter(const MstNode& node, Bytes& out) : out_(out), start_(out.size()) {
    std::size_t room = kMostAround;
    for (const MstNodeEntry& entry : node.entries) room += kMostEntry + entry.suffix.size();
    out_.resize(start_ + room);
    place_ = out_.data() + start_;
  }

  void write(const MstNode& node) {
    fixed(kNode);
    head(CborMajor::list, node.entries.size());
    for (const MstNodeEntry& entry : node.entries) {
      fixed(kEntry);
      head(CborMajor::bytes, entry.suffix.size());
      append(entry.suffix);
      fixed(kPrefix);
      head(CborMajor::unsigned_integer, entry.prefix);
      fixed(kTree);
      subtree(entry.tree);
      fixed(kValue);
      link(*entry.value);
    }
    fixed(kLeft);
    subtree(node.left);
    out_.resize(static_cast<std::size_t>(place_ - out_.data()));
  }

 private:
  static constexpr std::size_t kMostHead = 5;  // no item of a node is longer than 4 GiB
  static constexpr std::size_t kMostLink = kLink.size() + Cid::kBinarySize;
  static constexpr std::size_t kMostAround = kNode.size() + kMostHead + kLeft.size() + kMostLink;
  static constexpr std::size_t kMostEntry = kEntry.size() + kMostHead + kPrefix.size() + kMostHead +
                                            kTree.size() + kMostLink + kValue.size() + kMostLink;

  template <std::size_t N>
  void fixed(const Fixed<N>& bytes) {
    std::memcpy(place_, bytes.data(), N);
    place_ += N;
  }

  void append(ByteView bytes) { place_ = std::copy(bytes.begin(), bytes.end(), place_); }

  void head(CborMajor major, std::size_t argument) {
    const std::uint8_t type = cbor_type_bits(major);
    if (argument < 24) {
      *place_++ = static_cast<std::uint8_t>(type | argument);
      return;
    }
    const unsigned log_size = argument <= 0xff ? 0 : argument <= 0xffff ? 1 : 2;
    *place_++ = static_cast<std::uint8_t>(type | (24 + log_size));
    for (unsigned shift = 8U << log_size; shift > 0; shift -= 8) {
      *place_++ = static_cast<std::uint8_t>(argument >> (shift - 8));
    }
  }

  void link(const Cid& cid) {
    fixed(kLink);
    fixed(cid.to_bytes());
  }

  void subtree(const std::optional<Cid>& tree) {
    if (tree) {
      link(*tree);
    } else {
      fixed(kNoTree);
    }
  }

  Bytes& out_;
  const std::size_t start_;
  std::uint8_t* place_;
};

/// The limit is a hundred times the number of records of the largest real repository.
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
    // The key of the first entry of the top node has no prefix and shows the height of the tree.
    const int height = mst_key_depth(as_text(level.node.entries.front().suffix));
    if (const auto read = walk_node(0, height); !read) return read.error();
    return walk_;
  }

 private:
  /// The current node at one distance from the top, and its last key. The level is reused for the
  /// next node.
  struct Level {
    MstNode node;
    std::string key;
  };

  // `levels_` is a deque, because references to levels must stay valid when a deeper level is
  // added.
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
    // A node without entries may bridge a gap between depths, but must have a subtree.
    if (level.node.entries.empty() && !level.node.left) return errc::mst_malformed;
    return walk_node(distance, height);
  }

  MstVisitor& visitor_;
  MstWalk walk_;
  std::string last_key_;
  std::deque<Level> levels_;
  std::vector<atproto::Digest> children_;
};

/// Reads blocks from a map and passes entries to a function.
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

Result<void> decode_mst_node(ByteView block, MstNode& out) {
  if (NodeReader(block).read(out)) return {};
  // Reads a refused block a second time to find the reason. Refused blocks are rare, so the time
  // does not matter.
  atproto::Document document;
  if (const auto read = read_dag_cbor(block, document); !read) return read.error();
  return errc::mst_malformed;
}

std::size_t mst_shared_prefix(std::string_view previous, std::string_view key) {
  const auto differs = std::mismatch(previous.begin(), previous.end(), key.begin(), key.end());
  return static_cast<std::size_t>(differs.second - key.begin());
}

Bytes encode_mst_node(const MstNode& node) {
  Bytes out;
  encode_mst_node(node, out);
  return out;
}

void encode_mst_node(const MstNode& node, Bytes& out) {
  NodeWriter(node, out).write(node);
}

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
