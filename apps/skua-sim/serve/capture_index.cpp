#include "serve/capture_index.hpp"

#include <stdexcept>

#include "serve/event_frame.hpp"
#include "transport/capture.hpp"

namespace skua::sim {

CaptureIndex::CaptureIndex(const std::filesystem::path& path) {
  transport::CaptureReader reader(path);
  auto frame = reader.next();
  for (; frame && *frame; frame = reader.next()) {
    const ByteView bytes = **frame;
    entries_.push_back(
        {std::make_shared<const Bytes>(bytes.begin(), bytes.end()), read_seq(bytes)});
  }
  if (!frame) throw std::runtime_error(reader.problem());
  warning_ = reader.problem();
}

std::uint64_t CaptureIndex::position_after(std::int64_t cursor, bool inclusive) const {
  std::uint64_t position = 0;
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

FrameSource::Token CaptureIndex::when_past(std::uint64_t position, std::function<void()> wake) {
  if (end() > position) wake();
  return nullptr;
}

}  // namespace skua::sim
