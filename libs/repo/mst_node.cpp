#include "repo/mst_node.hpp"

#include <algorithm>

#include "repo/dag_cbor_reader.hpp"
#include "repo/dag_cbor_writer.hpp"
#include "repo/errc.hpp"

namespace skua::repo {
namespace {

using atproto::Cid;
using atproto::Value;

/// Reads `link or null` into `out`. False: neither.
bool read_subtree(const Value& value, std::optional<Cid>& out) {
  if (value.is_null()) {
    out.reset();
    return true;
  }
  if (!value.is_link()) return false;
  out = value.link();
  return true;
}

/// Reads `{k, p, t, v}`: DAG-CBOR gives the keys in this order.
bool read_entry(const Value& value, MstNodeEntry& out) {
  constexpr std::size_t kFields = 4;
  if (!value.is_map() || value.size() != kFields) return false;
  auto field = value.entries().begin();
  const auto suffix = *field;
  if (suffix.key != "k" || !suffix.value.is_bytes()) return false;
  out.suffix = suffix.value.bytes();

  const auto prefix = *++field;
  if (prefix.key != "p" || !prefix.value.is_integer()) return false;
  const std::int64_t length = prefix.value.integer();
  if (length < 0 || length > static_cast<std::int64_t>(kMaxMstKey)) return false;
  out.prefix = static_cast<std::uint32_t>(length);

  const auto tree = *++field;
  if (tree.key != "t" || !read_subtree(tree.value, out.tree)) return false;

  const auto record = *++field;
  if (record.key != "v" || !record.value.is_link()) return false;
  out.value = record.value.link();
  return true;
}

void write_subtree(CborWriter& writer, const std::optional<Cid>& tree) {
  if (tree) {
    writer.link(*tree);
  } else {
    writer.null();
  }
}

}  // namespace

Result<void> decode_mst_node(ByteView block, atproto::Document& scratch, MstNode& out) {
  out.left.reset();
  out.entries.clear();
  if (const auto read = read_dag_cbor(block, scratch); !read) return read.error();
  const Value root = scratch.root();
  const auto left = root.find("l");
  const auto entries = root.find("e");
  if (root.size() != 2 || !left || !read_subtree(*left, out.left) || !entries ||
      !entries->is_list()) {
    return errc::mst_malformed;
  }
  out.entries.reserve(entries->size());
  for (const Value entry : entries->items()) {
    if (!read_entry(entry, out.entries.emplace_back())) return errc::mst_malformed;
  }
  return {};
}

std::size_t mst_shared_prefix(std::string_view previous, std::string_view key) {
  const auto differs = std::mismatch(previous.begin(), previous.end(), key.begin(), key.end());
  return static_cast<std::size_t>(differs.second - key.begin());
}

Bytes encode_mst_node(const MstNode& node) {
  Bytes out;
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
  return out;
}

}  // namespace skua::repo
