#include "message.hpp"

#include "repo/dag_cbor_writer.hpp"

namespace skua::sim {

Bytes numbered(const Message& message, std::int64_t seq) {
  if (!message.seq_at) return message.bytes;
  constexpr std::size_t kMaxNumber = 9;
  const auto gap = message.bytes.begin() + static_cast<std::ptrdiff_t>(*message.seq_at);
  Bytes frame;
  frame.reserve(message.bytes.size() + kMaxNumber);
  frame.assign(message.bytes.begin(), gap);
  repo::CborWriter(frame).integer(seq);
  frame.insert(frame.end(), gap, message.bytes.end());
  return frame;
}

}  // namespace skua::sim
