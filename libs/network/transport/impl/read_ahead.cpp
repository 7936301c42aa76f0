#include "transport/impl/read_ahead.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/text.hpp"

namespace skua::transport::impl {
namespace {

// The first byte of a message in one frame, with no reserved bit.
constexpr std::uint8_t kWholeText = 0x81;
constexpr std::uint8_t kWholeBinary = 0x82;

// The second byte of a frame: whether it is masked, and its size or one of two marks.
constexpr std::uint8_t kMasked = 0x80;
constexpr std::uint8_t kSizeOf16Bits = 126;
constexpr std::uint8_t kSizeOf64Bits = 127;

constexpr std::size_t kMaskBytes = 4;

}  // namespace

std::span<std::uint8_t> ReadAhead::space() {
  std::copy(bytes_.get() + begin_, bytes_.get() + end_, bytes_.get());
  end_ -= std::exchange(begin_, 0);
  return {bytes_.get() + end_, size_ - end_};
}

std::size_t ReadAhead::take(std::span<std::uint8_t> to) {
  std::size_t taken = std::min(to.size(), end_ - begin_);
  if (part_ == Part::Head) taken = within_head(taken);
  if (part_ == Part::Frames) taken = within_frame(taken);
  std::copy_n(rest().data(), taken, to.data());
  begin_ += taken;
  return taken;
}

std::size_t ReadAhead::within_head(std::size_t most) {
  for (std::size_t i = 0; i < most; ++i) {
    const std::uint8_t byte = bytes_[begin_ + i];
    if (byte == '\n' && !std::exchange(has_text_, false)) {
      part_ = Part::Body;
      return i + 1;
    }
    if (byte != '\n' && byte != '\r') has_text_ = true;
  }
  return most;
}

std::size_t ReadAhead::within_frame(std::size_t most) {
  if (frame_ == 0) {
    const auto head = head_of_frame();
    if (!head) return 0;
    constexpr auto kMost = std::numeric_limits<std::uint64_t>::max();
    frame_ = head->size + std::min(head->content, kMost - head->size);
  }
  const auto within = static_cast<std::size_t>(std::min<std::uint64_t>(most, frame_));
  frame_ -= within;
  return within;
}

std::optional<ReadAhead::Head> ReadAhead::head_of_frame() const {
  const ByteView here = rest();
  Head head{.size = 2};
  if (here.size() < head.size) return std::nullopt;
  const std::uint8_t mark = here[1] & ~kMasked;
  std::size_t size_bytes = 0;
  if (mark == kSizeOf16Bits) size_bytes = 2;
  if (mark == kSizeOf64Bits) size_bytes = 8;
  if (here.size() < head.size + size_bytes) return std::nullopt;
  head.content = size_bytes == 0 ? mark : 0;
  for (std::size_t i = 0; i < size_bytes; ++i) head.content = head.content << 8U | here[2 + i];
  head.size += size_bytes;
  if ((here[1] & kMasked) != 0) head.size += kMaskBytes;
  return here.size() < head.size ? std::nullopt : std::optional(head);
}

std::optional<ReadAhead::Message> ReadAhead::take_message(std::size_t limit) {
  if (part_ != Part::Frames || frame_ != 0) return std::nullopt;
  const auto head = head_of_frame();
  if (!head) return std::nullopt;
  const ByteView here = rest();
  const bool text = here[0] == kWholeText;
  if (!text && here[0] != kWholeBinary) return std::nullopt;
  // A larger size is not in its shortest form, or it does not fit into the memory anyway.
  const bool is_short = here[1] < kSizeOf16Bits;
  const bool is_medium = here[1] == kSizeOf16Bits && head->content >= kSizeOf16Bits;
  if (!is_short && !is_medium) return std::nullopt;
  if (head->content > limit || here.size() - head->size < head->content) return std::nullopt;
  const ByteView content = here.subspan(head->size, static_cast<std::size_t>(head->content));
  if (text && !is_utf8(as_text(content))) return std::nullopt;
  begin_ += head->size + content.size();
  return Message{text, content};
}

}  // namespace skua::transport::impl
