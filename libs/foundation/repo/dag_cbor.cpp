#include "repo/dag_cbor.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include <boost/container/small_vector.hpp>

#include "atproto/cid.hpp"
#include "base/text.hpp"
#include "repo/cbor_item.hpp"
#include "repo/errc.hpp"

namespace skua::repo {

namespace {

using atproto::Kind;
using atproto::Node;

/// A link is a byte string of the multibase prefix 00 and the CID.
constexpr std::size_t kLinkSize = atproto::Cid::kBinarySize + 1;

/// Puts the items of one value on the document's tape. Private functions return errc{} on success,
/// because a Result for each item would take a third of the whole time.
class TapeBuilder {
 public:
  TapeBuilder(ByteView in, atproto::Document& out, const CborOptions& options)
      : in_(in), rest_(in), document_(out), nodes_(out.nodes()), options_(options) {}

  /// Reads one value and returns the number of its bytes.
  Result<std::size_t> run() {
    do {
      if (const errc e = take(); e != errc{}) return e;
      if (const errc e = place(); e != errc{}) return e;
    } while (!open_.empty());
    if (is_unsorted_ && has_duplicate_key()) return errc::cbor_key_order;
    return static_cast<std::size_t>(rest_.data() - in_.data());
  }

 private:
  /// A list or map whose end was not reached yet.
  struct Open {
    std::uint32_t index;      // the index of its node
    std::uint32_t remaining;  // the remaining items; a key and its value in a map count as two
    std::uint32_t last_key;   // the index of the newest key's node, or 0 before the first key
    bool is_map;

    bool wants_key() const { return is_map && remaining % 2 == 0; }
  };

  errc take() {
    if (const errc e = take_cbor_item(rest_, item_); e != errc{}) return e;
    return item_.is_shortest ? errc{} : deviate(errc::cbor_not_shortest);
  }

  /// Handles a value that is not in DAG-CBOR's canonical form. This is an error unless the options
  /// accept any form.
  errc deviate(errc error) {
    if (options_.canonical) return error;
    document_.set_not_canonical();
    return errc{};
  }

  std::uint32_t next_index() const { return static_cast<std::uint32_t>(nodes_.size()); }

  errc place() {
    if (!open_.empty() && open_.back().wants_key()) return place_key();
    switch (item_.type) {
      case CborItem::Type::unsigned_integer:
      case CborItem::Type::negative_integer:
        return place_integer();
      case CborItem::Type::string:
        if (!is_utf8(text())) return errc::cbor_invalid_utf8;
        return place_content(Kind::string);
      case CborItem::Type::bytes:
        return place_content(Kind::bytes);
      case CborItem::Type::list:
        return place_container(false);
      case CborItem::Type::map:
        return place_container(true);
      case CborItem::Type::tag:
        return place_link();
      case CborItem::Type::floating:
        return place_float();
      case CborItem::Type::boolean:
        push(Kind::boolean).integer = static_cast<std::int64_t>(item_.argument);
        break;
      case CborItem::Type::null:
        push(Kind::null);
        break;
      case CborItem::Type::short_float:
        if (const errc e = deviate(errc::cbor_float); e != errc{}) return e;
        return place_float();
      case CborItem::Type::undefined:
        return errc::cbor_bad_simple;
      case CborItem::Type::indefinite:
        return errc::cbor_indefinite_length;
    }
    complete();
    return errc{};
  }

  errc place_key() {
    if (item_.type == CborItem::Type::indefinite) return errc::cbor_indefinite_length;
    if (item_.type != CborItem::Type::string) return errc::cbor_key_not_text;
    if (!is_utf8(text())) return errc::cbor_invalid_utf8;
    Open& map = open_.back();
    if (map.last_key != 0) {
      const Node& last = nodes_[map.last_key];
      if (!cbor_key_less(as_text({last.data, last.size}), text())) {
        if (const errc e = deviate(errc::cbor_key_order); e != errc{}) return e;
        is_unsorted_ = true;
      }
    }
    map.last_key = next_index();
    return place_content(Kind::string);
  }

  errc place_integer() {
    constexpr auto kMax = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    if (item_.argument > kMax) return errc::cbor_integer_range;
    const auto magnitude = static_cast<std::int64_t>(item_.argument);
    push(Kind::integer).integer =
        item_.type == CborItem::Type::negative_integer ? -1 - magnitude : magnitude;
    complete();
    return errc{};
  }

  errc place_content(Kind kind) {
    Node& node = push(kind);
    node.size = static_cast<std::uint32_t>(item_.argument);
    node.data = item_.data;
    complete();
    return errc{};
  }

  errc place_link() {
    if (item_.argument != kCborLinkTag) return errc::cbor_bad_tag;
    if (const errc e = take(); e != errc{}) return e;
    if (item_.type == CborItem::Type::indefinite) return errc::cbor_indefinite_length;
    if (item_.type != CborItem::Type::bytes || item_.argument != kLinkSize || item_.data[0] != 0) {
      return errc::cbor_bad_link;
    }
    const ByteView cid{item_.data + 1, atproto::Cid::kBinarySize};
    if (!atproto::Cid::is_binary(cid)) return errc::cbor_bad_link;
    Node& node = push(Kind::link);
    node.size = atproto::Cid::kBinarySize;
    node.data = cid.data();
    complete();
    return errc{};
  }

  errc place_float() {
    if (!options_.allow_floats || !std::isfinite(item_.floating)) return errc::cbor_float;
    push(Kind::floating).floating = item_.floating;
    document_.set_has_floats();
    complete();
    return errc{};
  }

  errc place_container(bool is_map) {
    // Each item takes at least one byte, so a size beyond the remaining bytes is wrong. This check
    // also keeps the sizes within 32 bits.
    const std::uint64_t room = rest_.size() / (is_map ? 2 : 1);
    if (item_.argument > room) return errc::cbor_truncated;
    if (open_.size() >= options_.max_depth) return errc::cbor_too_deep;
    const auto size = static_cast<std::uint32_t>(item_.argument);
    const std::uint32_t index = next_index();
    push(is_map ? Kind::map : Kind::list).size = size;
    if (size == 0) {
      complete();
    } else {
      open_.push_back({index, is_map ? size * 2 : size, 0, is_map});
    }
    return errc{};
  }

  Node& push(Kind kind) {
    Node& node = nodes_.emplace_back();
    node.kind = kind;
    node.next = next_index();
    return node;
  }

  /// The value at the end of the tape is complete, and so are the open containers of which it is
  /// the last item.
  void complete() {
    while (!open_.empty() && --open_.back().remaining == 0) {
      nodes_[open_.back().index].next = next_index();
      open_.pop_back();
    }
  }

  /// Checks all maps, because each of them may be unsorted.
  bool has_duplicate_key() const {
    std::vector<std::string_view> keys;
    for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
      if (nodes_[i].kind != Kind::map) continue;
      keys.clear();
      for (const auto entry : atproto::Value(nodes_.data(), i).entries()) keys.push_back(entry.key);
      std::sort(keys.begin(), keys.end());
      if (std::adjacent_find(keys.begin(), keys.end()) != keys.end()) return true;
    }
    return false;
  }

  std::string_view text() const { return as_text({item_.data, item_.argument}); }

  ByteView in_;
  ByteView rest_;
  CborItem item_;
  atproto::Document& document_;
  std::vector<Node>& nodes_;
  const CborOptions& options_;
  boost::container::small_vector<Open, 32> open_;
  bool is_unsorted_ = false;  // whether a key of some map stands after a greater key
};

constexpr std::uint8_t kFalse = 0xf4;
constexpr std::uint8_t kTrue = 0xf5;
constexpr std::uint8_t kFloat64 = 0xfb;

void big_endian(Bytes& out, std::uint64_t value, int bytes) {
  for (int shift = (bytes - 1) * 8; shift >= 0; shift -= 8) {
    out.push_back(static_cast<std::uint8_t>(value >> shift));
  }
}

/// Returns a map's entries in DAG-CBOR's order.
std::vector<atproto::Value::Entries::Entry> in_order(const atproto::Value& map) {
  std::vector<atproto::Value::Entries::Entry> entries;
  entries.reserve(map.size());
  for (const auto entry : map.entries()) entries.push_back(entry);
  const auto less = [](const auto& a, const auto& b) { return cbor_key_less(a.key, b.key); };
  if (!std::is_sorted(entries.begin(), entries.end(), less)) {
    std::sort(entries.begin(), entries.end(), less);
  }
  return entries;
}

}  // namespace

Result<std::size_t> read_dag_cbor_prefix(ByteView in, atproto::Document& out,
                                         const CborOptions& options) {
  // Indexes and sizes on the tape have 32 bits, and a map's keys and values count separately.
  constexpr std::size_t kMaxInput = std::numeric_limits<std::int32_t>::max();
  out.clear();
  if (in.size() > kMaxInput) return errc::cbor_too_large;
  const auto read = TapeBuilder(in, out, options).run();
  if (!read) out.clear();
  return read;
}

Result<void> read_dag_cbor(ByteView in, atproto::Document& out, const CborOptions& options) {
  const auto read = read_dag_cbor_prefix(in, out, options);
  if (!read) return read.error();
  if (*read != in.size()) {
    out.clear();
    return errc::cbor_trailing_bytes;
  }
  return {};
}

void CborWriter::head(CborMajor major, std::uint64_t argument) {
  const std::uint8_t type = cbor_type_bits(major);
  if (argument < 24) {
    out_.push_back(static_cast<std::uint8_t>(type | argument));
  } else if (argument <= 0xff) {
    out_.push_back(type | 24);
    big_endian(out_, argument, 1);
  } else if (argument <= 0xffff) {
    out_.push_back(type | 25);
    big_endian(out_, argument, 2);
  } else if (argument <= 0xffffffff) {
    out_.push_back(type | 26);
    big_endian(out_, argument, 4);
  } else {
    out_.push_back(type | 27);
    big_endian(out_, argument, 8);
  }
}

void CborWriter::null() {
  out_.push_back(kCborNull);
}

void CborWriter::boolean(bool value) {
  out_.push_back(value ? kTrue : kFalse);
}

void CborWriter::integer(std::int64_t value) {
  if (value >= 0) {
    head(CborMajor::unsigned_integer, static_cast<std::uint64_t>(value));
  } else {
    head(CborMajor::negative_integer, static_cast<std::uint64_t>(-1 - value));
  }
}

void CborWriter::floating(double value) {
  out_.push_back(kFloat64);
  big_endian(out_, std::bit_cast<std::uint64_t>(value), 8);
}

void CborWriter::string(std::string_view text) {
  head(CborMajor::text, text.size());
  const ByteView data = as_bytes(text);
  out_.insert(out_.end(), data.begin(), data.end());
}

void CborWriter::bytes(ByteView data) {
  head(CborMajor::bytes, data.size());
  out_.insert(out_.end(), data.begin(), data.end());
}

void CborWriter::link(const atproto::Cid& cid) {
  head(CborMajor::tag, kCborLinkTag);
  head(CborMajor::bytes, atproto::Cid::kBinarySize + 1);
  out_.push_back(0);  // the multibase prefix of the binary form
  const auto binary = cid.to_bytes();
  out_.insert(out_.end(), binary.begin(), binary.end());
}

void CborWriter::list(std::size_t items) {
  head(CborMajor::list, items);
}

void CborWriter::map(std::size_t entries) {
  head(CborMajor::map, entries);
}

void CborWriter::value(const atproto::Value& value) {
  switch (value.kind()) {
    case atproto::Kind::null:
      return null();
    case atproto::Kind::boolean:
      return boolean(value.boolean());
    case atproto::Kind::integer:
      return integer(value.integer());
    case atproto::Kind::floating:
      return floating(value.floating());
    case atproto::Kind::string:
      return string(value.string());
    case atproto::Kind::bytes:
      return bytes(value.bytes());
    case atproto::Kind::link:
      return link(value.link());
    case atproto::Kind::list:
      list(value.size());
      for (const atproto::Value item : value.items()) this->value(item);
      return;
    case atproto::Kind::map:
      map(value.size());
      for (const auto& entry : in_order(value)) {
        string(entry.key);
        this->value(entry.value);
      }
      return;
  }
}

bool cbor_key_less(std::string_view a, std::string_view b) {
  return a.size() != b.size() ? a.size() < b.size() : a < b;
}

}  // namespace skua::repo
