#include "serve/event_frame.hpp"

#include "atproto/data_model.hpp"
#include "repo/dag_cbor.hpp"

namespace skua::sim {

namespace {

/// Reads the second value of a frame, its body. Returns false if the frame is not two DAG-CBOR
/// values.
bool read_body(ByteView frame, atproto::Document& body) {
  atproto::Document header;
  const auto header_size = repo::read_dag_cbor_prefix(frame, header);
  return header_size && repo::read_dag_cbor_prefix(frame.subspan(*header_size), body);
}

}  // namespace

std::optional<std::int64_t> read_seq(ByteView frame) {
  atproto::Document body;
  if (!read_body(frame, body)) return std::nullopt;
  const auto seq = body.root().find("seq");
  if (!seq || !seq->is_integer()) return std::nullopt;
  return seq->integer();
}

Bytes corrupted(ByteView frame) {
  Bytes copy(frame.begin(), frame.end());
  if (copy.empty()) return copy;
  std::size_t target = copy.size() / 2;
  atproto::Document body;
  if (read_body(frame, body)) {
    const auto blocks = body.root().find("blocks");
    if (blocks && blocks->is_bytes() && !blocks->bytes().empty()) {
      const auto inside = blocks->bytes();
      target = static_cast<std::size_t>(inside.data() - frame.data()) + inside.size() / 2;
    }
  }
  copy[target] ^= 0xff;
  return copy;
}

Bytes error_frame(std::string_view name, std::string_view message) {
  Bytes frame;
  repo::CborWriter writer(frame);
  writer.map(1);
  writer.string("op");
  writer.integer(-1);
  writer.map(2);
  writer.string("error");
  writer.string(name);
  writer.string("message");
  writer.string(message);
  return frame;
}

Bytes info_frame(std::string_view name, std::string_view message) {
  Bytes frame;
  repo::CborWriter writer(frame);
  writer.map(2);
  writer.string("t");
  writer.string("#info");
  writer.string("op");
  writer.integer(1);
  writer.map(2);
  writer.string("name");
  writer.string(name);
  writer.string("message");
  writer.string(message);
  return frame;
}

}  // namespace skua::sim
