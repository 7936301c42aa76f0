#include "repo/mst_node.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "atproto/data_model.hpp"
#include "repo/cbor_major.hpp"
#include "repo/dag_cbor_reader.hpp"
#include "repo/errc.hpp"

namespace skua::repo {
namespace {

using atproto::Cid;

// Which fields a node has, and in which order, is laid down, and DAG-CBOR leaves no choice in how
// to write them: so most of a block is fixed bytes, read and written as such. A document in
// between, which takes a hundred items a node, would only cost time.
template <std::size_t N>
using Fixed = std::array<std::uint8_t, N>;
constexpr Fixed<3> kNode = {0xa2, 0x61, 'e'};   // a map of two and its first key
constexpr Fixed<2> kLeft = {0x61, 'l'};         // its second key
constexpr Fixed<3> kEntry = {0xa4, 0x61, 'k'};  // a map of four and its first key
constexpr Fixed<2> kPrefix = {0x61, 'p'};
constexpr Fixed<2> kTree = {0x61, 't'};
constexpr Fixed<2> kValue = {0x61, 'v'};
constexpr Fixed<1> kNoTree = {kCborNull};
// Tag 42 and the head of 37 bytes: 00, the multibase prefix, and the CID.
constexpr Fixed<2> kTag = {0xd8, 42};
constexpr Fixed<5> kLink = {0xd8, 42, 0x58, 37, 0};

/// Reads a node from front to back. Functions return false when something else stands there.
class NodeReader {
 public:
  explicit NodeReader(ByteView block) : rest_(block) {}

  /// The whole of the block.
  bool read(MstNode& out) {
    std::uint32_t entries = 0;
    if (!fixed(kNode) || !head(CborMajor::list, entries) || entries > rest_.size() / kMinEntry)
      return false;
    out.entries.resize(entries);
    for (MstNodeEntry& entry : out.entries) {
      if (!read_entry(entry)) return false;
    }
    return fixed(kLeft) && subtree(out.left) && rest_.empty();
  }

 private:
  /// A map's head, its four keys, a link, and a byte each for what else is in it.
  static constexpr std::size_t kMinEntry = 53;

  bool read_entry(MstNodeEntry& out) {
    return fixed(kEntry) && bytes(out.suffix) && fixed(kPrefix) &&
           head(CborMajor::unsigned_integer, out.prefix) && out.prefix <= kMaxMstKey &&
           fixed(kTree) && subtree(out.tree) && fixed(kValue) && value(out.value);
  }

  /// The link of an entry. A link of another form is read over.
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

  /// The head of an item, in its shortest form. No block is so large that it had 64-bit ones.
  bool head(CborMajor major, std::uint32_t& argument) {
    if (rest_.empty() || (rest_.front() & 0xe0U) != cbor_type_bits(major)) return false;
    const unsigned info = rest_.front() & 0x1fU;
    rest_ = rest_.subspan(1);
    argument = info;
    if (info < 24) return true;
    if (info > 26) return false;
    const std::size_t size = std::size_t{1} << (info - 24);
    if (rest_.size() < size) return false;
    argument = 0;
    for (const std::uint8_t byte : rest_.first(size)) argument = argument << 8U | byte;
    rest_ = rest_.subspan(size);
    constexpr std::array<std::uint32_t, 3> kTooSmall = {23, 0xff, 0xffff};
    return argument > kTooSmall[info - 24];
  }

  bool bytes(ByteView& out) {
    std::uint32_t size = 0;
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

  /// `link or null`.
  bool subtree(std::optional<Cid>& out) {
    if (!fixed(kNoTree)) return link(out.emplace());
    out.reset();
    return true;
  }

  ByteView rest_;
};

/// Appends a node to a buffer, through a pointer: room for the longest form is made once.
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
  static constexpr std::size_t kMostHead = 5;  // nothing in a node is longer than 4 GiB
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

}  // namespace

Result<void> decode_mst_node(ByteView block, MstNode& out) {
  if (NodeReader(block).read(out)) return {};
  // A refused block is rare, so a second read may find the reason.
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

}  // namespace skua::repo
