#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace skua::lexicon {

/// The types of values in the lexicon language (atproto.com/specs/lexicon). `Reference` stands for
/// a `ref` until the schema is built; a built schema has none.
enum class Kind : std::uint8_t {
  Null,
  Boolean,
  Integer,
  String,
  Bytes,
  CidLink,
  Blob,
  Array,
  Object,
  Union,
  Unknown,
  Reference,
};

enum class Format : std::uint8_t {
  None,
  AtIdentifier,
  AtUri,
  Cid,
  Datetime,
  Did,
  Handle,
  Language,
  Nsid,
  RecordKey,
  Tid,
  Uri,
};

using NodeIndex = std::uint32_t;

/// A range of elements in one of the schema's vectors.
struct Range {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

/// A type of the lexicon language, with its limits.
struct Node {
  Kind kind = Kind::Unknown;
  Format format = Format::None;
  /// Whether a union allows only the listed types.
  bool closed = false;
  /// The number of required fields of an object.
  std::uint32_t required = 0;
  /// The parts of the type. An object has `fields` and a union has `members`. A string has the
  /// allowed `texts`; without texts all are allowed. A blob has the accepted MIME types among
  /// `texts`. An integer or boolean has the allowed `numbers`.
  Range parts;
  /// The type of an array's items.
  NodeIndex items = 0;
  /// The limits of an integer's value, of a string's bytes of UTF-8, of the length of bytes, or of
  /// the number of an array's items. A blob has only `maximum`, its size in bytes.
  std::int64_t minimum = std::numeric_limits<std::int64_t>::min();
  std::int64_t maximum = std::numeric_limits<std::int64_t>::max();
  /// The limits of a string's grapheme clusters.
  std::uint32_t min_graphemes = 0;
  std::uint32_t max_graphemes = std::numeric_limits<std::uint32_t>::max();
};

/// A property of an object.
struct Field {
  std::string key;
  NodeIndex node = 0;
  bool required = false;
  bool nullable = false;
};

/// A type that a union lists, by its full name without `#main`.
struct Member {
  std::string type;
  NodeIndex node = 0;
};

/// The definitions of several lexicon documents as a graph of nodes, in which recursive types are
/// cycles. A SchemaBuilder makes a schema. A schema is immutable, so all threads share one.
class Schema {
 public:
  const Node& node(NodeIndex index) const { return nodes_[index]; }
  std::span<const Field> fields(const Node& node) const { return part(fields_, node.parts); }
  std::span<const Member> members(const Node& node) const { return part(members_, node.parts); }
  std::span<const std::string> texts(const Node& node) const { return part(texts_, node.parts); }
  std::span<const std::int64_t> numbers(const Node& node) const {
    return part(numbers_, node.parts);
  }

  /// Returns the object type of a collection's records, or null if no document defines the
  /// collection. The node lives as long as the schema.
  const Node* record(std::string_view collection) const {
    const auto found = records_.find(collection);
    return found == records_.end() ? nullptr : &nodes_[found->second];
  }

 private:
  friend class SchemaBuilder;
  friend class TypeReader;

  template <class T>
  static std::span<const T> part(const std::vector<T>& all, Range range) {
    return std::span<const T>(all).subspan(range.first, range.count);
  }
  /// Appends elements to a vector and returns their range.
  template <class T>
  static Range append(std::vector<T>& all, std::vector<T> more) {
    const Range range{static_cast<std::uint32_t>(all.size()),
                      static_cast<std::uint32_t>(more.size())};
    for (T& each : more) all.push_back(std::move(each));
    return range;
  }

  std::vector<Node> nodes_;
  std::vector<Field> fields_;
  std::vector<Member> members_;
  std::vector<std::string> texts_;
  std::vector<std::int64_t> numbers_;
  std::map<std::string, NodeIndex, std::less<>> records_;
};

}  // namespace skua::lexicon
