#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "atproto/cid.hpp"
#include "base/bytes.hpp"

namespace skua::atproto {

/// The kinds of atproto's data model (atproto.com/specs/data-model). `floating` is legal DAG-CBOR
/// but illegal in atproto. A reader accepts a float only if its caller asks for this, so that a
/// record with a float can be kept.
enum class Kind : std::uint8_t {
  null,
  boolean,
  integer,
  floating,
  string,
  bytes,
  link,
  list,
  map,
};

/// One entry of a document's flat tree, in the order of the encoded bytes. A map is followed by a
/// string node and a value subtree for each of its entries.
struct Node {
  Kind kind = Kind::null;
  /// The length of a text or of bytes, the number of items of a list, or the number of entries of a
  /// map.
  std::uint32_t size = 0;
  /// Index of the node that follows this node's subtree.
  std::uint32_t next = 0;
  union {
    std::int64_t integer = 0;  // a boolean is 0 or 1
    double floating;
    /// Points to the text or bytes in the buffer that was read, or to the 36 bytes of a link's CID.
    const std::uint8_t* data;
  };
};

/// A view of one value. Cheap to copy; valid while its Document and the buffer that was read live.
/// Accessors other than `kind()` and `is_*` require the matching kind.
class Value {
 public:
  Value(const Node* tape, std::uint32_t index) : tape_(tape), index_(index) {}

  Kind kind() const { return node().kind; }
  bool is_null() const { return kind() == Kind::null; }
  bool is_boolean() const { return kind() == Kind::boolean; }
  bool is_integer() const { return kind() == Kind::integer; }
  bool is_string() const { return kind() == Kind::string; }
  bool is_bytes() const { return kind() == Kind::bytes; }
  bool is_link() const { return kind() == Kind::link; }
  bool is_list() const { return kind() == Kind::list; }
  bool is_map() const { return kind() == Kind::map; }

  bool boolean() const { return node().integer != 0; }
  std::int64_t integer() const { return node().integer; }
  double floating() const { return node().floating; }
  std::string_view string() const { return as_text(bytes()); }
  ByteView bytes() const { return {node().data, node().size}; }
  /// Returns the CID of a link without a check, because the reader has checked its form.
  Cid link() const { return Cid::from_trusted_bytes(node().data); }

  /// Returns the number of items of a list or of entries of a map.
  std::size_t size() const { return node().size; }

  class Items;
  class Entries;
  Items items() const;
  Entries entries() const;

  /// Returns the value under `key` of a map, or nothing if the key is absent or the value is not a
  /// map.
  std::optional<Value> find(std::string_view key) const;

 private:
  friend class Items;
  friend class Entries;
  const Node& node() const { return tape_[index_]; }

  const Node* tape_;
  std::uint32_t index_;
};

/// The items of a list, for range-for.
class Value::Items {
 public:
  class iterator {
   public:
    iterator(const Node* tape, std::uint32_t index) : tape_(tape), index_(index) {}
    Value operator*() const { return {tape_, index_}; }
    iterator& operator++() {
      index_ = tape_[index_].next;
      return *this;
    }
    bool operator==(const iterator& other) const = default;

   private:
    const Node* tape_;
    std::uint32_t index_;
  };
  Items(const Node* tape, std::uint32_t index) : tape_(tape), index_(index) {}
  iterator begin() const { return {tape_, index_ + 1}; }
  iterator end() const { return {tape_, tape_[index_].next}; }

 private:
  const Node* tape_;
  std::uint32_t index_;
};

/// The entries of a map in encoded order, for range-for.
class Value::Entries {
 public:
  struct Entry {
    std::string_view key;
    Value value;
  };
  class iterator {
   public:
    iterator(const Node* tape, std::uint32_t index) : tape_(tape), index_(index) {}
    Entry operator*() const { return {Value(tape_, index_).string(), Value(tape_, index_ + 1)}; }
    iterator& operator++() {
      index_ = tape_[index_ + 1].next;
      return *this;
    }
    bool operator==(const iterator& other) const = default;

   private:
    const Node* tape_;
    std::uint32_t index_;
  };
  Entries(const Node* tape, std::uint32_t index) : tape_(tape), index_(index) {}
  iterator begin() const { return {tape_, index_ + 1}; }
  iterator end() const { return {tape_, tape_[index_].next}; }

 private:
  const Node* tape_;
  std::uint32_t index_;
};

inline Value::Items Value::items() const {
  return {tape_, index_};
}
inline Value::Entries Value::entries() const {
  return {tape_, index_};
}

inline std::optional<Value> Value::find(std::string_view key) const {
  if (!is_map()) return std::nullopt;
  for (const auto entry : entries()) {
    if (entry.key == key) return entry.value;
  }
  return std::nullopt;
}

/// A decoded value as a flat tree. Its text and bytes point into the buffer that was read, so
/// nothing is copied. A reader can use a Document again: it clears the tree and keeps the memory.
class Document {
 public:
  /// The value that was read. Requires a successful read.
  Value root() const { return {nodes_.data(), 0}; }
  bool empty() const { return nodes_.empty(); }
  /// The number of values, including nested values.
  std::size_t values() const { return nodes_.size(); }
  /// Whether the document contains a float, which is legal in DAG-CBOR and illegal in atproto.
  bool has_floats() const { return has_floats_; }
  /// False if the bytes were not in the canonical form of DAG-CBOR. A reader accepts such bytes
  /// only if its caller asks for this.
  bool is_canonical() const { return is_canonical_; }

  /// The tree, for checks of all values at once.
  const std::vector<Node>& tree() const { return nodes_; }

  /// For readers only.
  void clear() {
    nodes_.clear();
    has_floats_ = false;
    is_canonical_ = true;
  }
  std::vector<Node>& nodes() { return nodes_; }
  void set_has_floats() { has_floats_ = true; }
  void set_not_canonical() { is_canonical_ = false; }

 private:
  std::vector<Node> nodes_;
  bool has_floats_ = false;
  bool is_canonical_ = true;
};

}  // namespace skua::atproto
