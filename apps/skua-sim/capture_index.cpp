#include "capture_index.hpp"

#include <stdexcept>

#include "atproto/data_model.hpp"
#include "repo/dag_cbor_reader.hpp"
#include "transport/capture.hpp"

namespace skua::sim {
namespace {

/// Reads the second value of a frame, its body. False: the frame is not two DAG-CBOR values.
bool read_body(ByteView frame, atproto::Document& body) {
  atproto::Document header;
  const auto header_size = repo::read_dag_cbor_prefix(frame, header);
  return header_size && repo::read_dag_cbor_prefix(frame.subspan(*header_size), body);
}

std::optional<std::int64_t> read_seq(ByteView frame) {
  atproto::Document body;
  if (!read_body(frame, body)) return std::nullopt;
  const auto seq = body.root().find("seq");
  if (!seq || !seq->is_integer()) return std::nullopt;
  return seq->integer();
}

}  // namespace

CaptureIndex::CaptureIndex(const std::filesystem::path& path) {
  transport::CaptureReader reader(path);
  auto frame = reader.next();
  for (; frame && *frame; frame = reader.next()) {
    entries_.push_back({bytes_.size(), (*frame)->size(), read_seq(**frame)});
    bytes_.insert(bytes_.end(), (*frame)->begin(), (*frame)->end());
  }
  if (!frame) throw std::runtime_error(reader.problem());
  warning_ = reader.problem();
}

ByteView CaptureIndex::frame(std::size_t position) const {
  const auto& entry = entries_[position];
  return ByteView(bytes_).subspan(entry.offset, entry.size);
}

std::size_t CaptureIndex::position_after(std::int64_t cursor, bool inclusive) const {
  std::size_t position = 0;
  for (; position < entries_.size(); ++position) {
    const auto& seq = entries_[position].seq;
    if (seq && (*seq > cursor || (inclusive && *seq == cursor))) break;
  }
  return position;
}

std::optional<std::int64_t> CaptureIndex::first_seq() const {
  for (const auto& entry : entries_) {
    if (entry.seq) return entry.seq;
  }
  return std::nullopt;
}

std::optional<std::int64_t> CaptureIndex::last_seq() const {
  for (auto entry = entries_.rbegin(); entry != entries_.rend(); ++entry) {
    if (entry->seq) return entry->seq;
  }
  return std::nullopt;
}

Bytes CaptureIndex::corrupted(std::size_t position) const {
  const auto original = frame(position);
  Bytes copy(original.begin(), original.end());
  if (copy.empty()) return copy;
  std::size_t target = copy.size() / 2;
  atproto::Document body;
  if (read_body(original, body)) {
    const auto blocks = body.root().find("blocks");
    if (blocks && blocks->is_bytes() && !blocks->bytes().empty()) {
      const auto inside = blocks->bytes();
      target = static_cast<std::size_t>(inside.data() - original.data()) + inside.size() / 2;
    }
  }
  copy[target] ^= 0xff;
  return copy;
}

}  // namespace skua::sim
