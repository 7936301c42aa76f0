#include "repo/car_writer.hpp"

#include <cstdint>

#include "repo/dag_cbor_writer.hpp"

namespace skua::repo {
namespace {

void write_varint(Bytes& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<std::uint8_t>(value | 0x80));
  out.push_back(static_cast<std::uint8_t>(value));
}

}  // namespace

CarWriter::CarWriter(Bytes& out, std::span<const atproto::Cid> roots) : out_(out) {
  Bytes header;
  CborWriter writer(header);
  writer.map(2);
  writer.string("roots");
  writer.list(roots.size());
  for (const atproto::Cid& root : roots) writer.link(root);
  writer.string("version");
  writer.integer(1);
  write_varint(out_, header.size());
  out_.insert(out_.end(), header.begin(), header.end());
}

void CarWriter::block(const atproto::Cid& cid, ByteView data) {
  write_varint(out_, atproto::Cid::kBinarySize + data.size());
  const auto binary = cid.to_bytes();
  out_.insert(out_.end(), binary.begin(), binary.end());
  out_.insert(out_.end(), data.begin(), data.end());
}

atproto::Cid CarWriter::block(ByteView data) {
  const atproto::Cid cid = atproto::Cid::of(data);
  block(cid, data);
  return cid;
}

}  // namespace skua::repo
