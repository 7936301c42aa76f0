#include "transport/impl/read_ahead.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "base/text.hpp"
#include "fuzz/target.hpp"

namespace skua::fuzz {
namespace {

constexpr std::size_t kSize = 300;
constexpr std::size_t kLimit = 200;

/// The end of the frame that begins here (RFC 6455, section 5.2); nothing known: the largest
/// number.
std::uint64_t end_of_frame(ByteView input, std::size_t begin) {
  constexpr auto kUnknown = std::numeric_limits<std::uint64_t>::max();
  const ByteView frame = input.subspan(begin);
  if (frame.size() < 2) return kUnknown;
  std::uint64_t content = frame[1] & 0x7fU;
  const std::size_t more = content == 126 ? 2 : content == 127 ? 8 : 0;
  const std::size_t head = 2 + more + (frame[1] >= 0x80 ? 4 : 0);
  if (frame.size() < head) return kUnknown;
  if (more > 0) content = 0;
  for (std::size_t i = 0; i < more; ++i) content = content << 8U | frame[2 + i];
  return content > kUnknown - begin - head ? kUnknown : begin + head + content;
}

/// Numbers for cuts, which the input chooses.
class Cuts {
 public:
  explicit Cuts(std::uint32_t seed) : state_(seed) {}
  std::size_t next(std::size_t most) {
    state_ = state_ * 1'664'525U + 1'013'904'223U;
    return (state_ >> 16U) % (most + 1);
  }

 private:
  std::uint32_t state_;
};

}  // namespace

// The first two bytes choose the cuts, and the others are frames.
void run_read_ahead(ByteView input) {
  if (input.size() < 2) return;
  Cuts cuts(static_cast<std::uint32_t>(input[0] << 8U | input[1]));
  const ByteView frames = input.subspan(2);
  transport::impl::ReadAhead ahead(kSize);
  ahead.begin_frames();
  std::size_t arrived = 0;
  std::size_t taken = 0;
  std::uint64_t end = 0;  // of the current frame
  Bytes to(kSize);
  while (true) {
    const auto space = ahead.space();
    const std::size_t size = std::min({space.size(), frames.size() - arrived, 1 + cuts.next(400)});
    std::copy_n(frames.begin() + static_cast<std::ptrdiff_t>(arrived), size, space.begin());
    ahead.filled(size);
    arrived += size;
    while (true) {
      if (taken == end && cuts.next(1) == 0) {
        if (const auto message = ahead.take_message(kLimit)) {
          end = end_of_frame(frames, taken);
          require(end <= arrived, "a message is here as a whole");
          const ByteView frame = frames.subspan(taken, static_cast<std::size_t>(end) - taken);
          require(frame[0] == (message->text ? 0x81 : 0x82), "a message is one frame");
          const ByteView content = frame.last(message->content.size());
          require(std::ranges::equal(content, message->content), "a message is its frame's");
          const std::size_t head = content.size() < 126 ? 2 : 4;
          require(frame.size() == head + content.size(), "no mask, and the shortest form");
          require(content.size() <= kLimit, "a message keeps to the limit");
          require(!message->text || is_utf8(as_text(content)), "a text is UTF-8");
          taken = static_cast<std::size_t>(end);
          continue;
        }
      }
      const std::size_t got = ahead.take(std::span(to).first(1 + cuts.next(kSize - 1)));
      if (got == 0) break;
      if (taken == end) end = end_of_frame(frames, taken);
      require(std::ranges::equal(std::span(to).first(got), frames.subspan(taken, got)),
              "reads keep the order");
      taken += got;
      require(taken <= end, "a read ends with its frame");
    }
    if (arrived == frames.size()) break;
    require(!ahead.space().empty(), "after a read of nothing there is space");
  }
  require(taken == end ? arrived - taken < 14 : arrived == taken, "only a part of a head stays");
}

}  // namespace skua::fuzz
