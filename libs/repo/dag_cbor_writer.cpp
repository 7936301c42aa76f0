#include "repo/dag_cbor_writer.hpp"

#include <algorithm>
#include <bit>
#include <vector>

namespace skua::repo {
namespace {

constexpr std::uint8_t kFalse = 0xf4;
constexpr std::uint8_t kTrue = 0xf5;
constexpr std::uint8_t kFloat64 = 0xfb;

void big_endian(Bytes& out, std::uint64_t value, int bytes) {
  for (int shift = (bytes - 1) * 8; shift >= 0; shift -= 8) {
    out.push_back(static_cast<std::uint8_t>(value >> shift));
  }
}

/// A map's entries in DAG-CBOR's order.
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
