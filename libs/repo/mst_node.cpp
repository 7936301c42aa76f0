#include "repo/mst_node.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "atproto/data_model.hpp"
#include "repo/dag_cbor_reader.hpp"
#include "repo/dag_cbor_writer.hpp"
#include "repo/errc.hpp"

namespace skua::repo {
namespace {

using atproto::Cid;

/// Reads a node from front to back. Which fields it has, and in which order, is laid down, and
/// DAG-CBOR leaves no choice in how to write them: so most of it is fixed bytes, and a document in
/// between, which takes a hundred items a node, would only cost time. Functions return false when
/// something else stands there.
class NodeReader {
 public:
  explicit NodeReader(ByteView block) : rest_(block) {}

  /// The whole of the block.
  bool read(MstNode& out) {
    std::uint32_t entries = 0;
    if (!fixed(kNode) || !head(kList, entries) || entries > rest_.size() / kMinEntry) return false;
    out.entries.resize(entries);
    for (MstNodeEntry& entry : out.entries) {
      if (!read_entry(entry)) return false;
    }
    return fixed(kLeft) && subtree(out.left) && rest_.empty();
  }

 private:
  enum Major : std::uint8_t { kUnsigned = 0, kBytes = 2, kList = 4 };

  template <std::size_t N>
  using Fixed = std::array<std::uint8_t, N>;
  static constexpr Fixed<3> kNode = {0xa2, 0x61, 'e'};   // a map of two and its first key
  static constexpr Fixed<2> kLeft = {0x61, 'l'};         // its second key
  static constexpr Fixed<3> kEntry = {0xa4, 0x61, 'k'};  // a map of four and its first key
  static constexpr Fixed<2> kPrefix = {0x61, 'p'};
  static constexpr Fixed<2> kTree = {0x61, 't'};
  static constexpr Fixed<2> kValue = {0x61, 'v'};
  static constexpr Fixed<1> kNull = {0xf6};
  // Tag 42 and the head of 37 bytes: 00, the multibase prefix, and the CID.
  static constexpr Fixed<5> kLink = {0xd8, 42, 0x58, 37, 0};

  /// A map's head, its four keys, a link, and a byte each for what else is in it.
  static constexpr std::size_t kMinEntry = 53;

  bool read_entry(MstNodeEntry& out) {
    return fixed(kEntry) && bytes(out.suffix) && fixed(kPrefix) && head(kUnsigned, out.prefix) &&
           out.prefix <= kMaxMstKey && fixed(kTree) && subtree(out.tree) && fixed(kValue) &&
           link(out.value);
  }

  template <std::size_t N>
  bool fixed(const Fixed<N>& expected) {
    if (rest_.size() < N || std::memcmp(rest_.data(), expected.data(), N) != 0) return false;
    rest_ = rest_.subspan(N);
    return true;
  }

  /// The head of an item, in its shortest form. No block is so large that it had 64-bit ones.
  bool head(Major major, std::uint32_t& argument) {
    if (rest_.empty() || rest_.front() >> 5U != major) return false;
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
    if (!head(kBytes, size) || size > rest_.size()) return false;
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
    if (!fixed(kNull)) return link(out.emplace());
    out.reset();
    return true;
  }

  ByteView rest_;
};

void write_subtree(CborWriter& writer, const std::optional<Cid>& tree) {
  if (tree) {
    writer.link(*tree);
  } else {
    writer.null();
  }
}

}  // namespace

Result<void> decode_mst_node(ByteView block, MstNode& out) {
  if (NodeReader(block).read(out)) return {};
  // Refused, and rare: what is wrong is worth a second reading.
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
  CborWriter writer(out);
  writer.map(2);
  writer.string("e");
  writer.list(node.entries.size());
  for (const MstNodeEntry& entry : node.entries) {
    writer.map(4);
    writer.string("k");
    writer.bytes(entry.suffix);
    writer.string("p");
    writer.integer(entry.prefix);
    writer.string("t");
    write_subtree(writer, entry.tree);
    writer.string("v");
    writer.link(entry.value);
  }
  writer.string("l");
  write_subtree(writer, node.left);
}

}  // namespace skua::repo
