#include "atproto/tid.hpp"

#include <cstddef>

#include "atproto/errc.hpp"

namespace skua::atproto {
namespace {

constexpr std::string_view kAlphabet = "234567abcdefghijklmnopqrstuvwxyz";
constexpr std::size_t kTidTextSize = 13;
constexpr int kClockIdBits = 10;

int character_value(char c) {
  if (c >= '2' && c <= '7') return c - '2';
  if (c >= 'a' && c <= 'z') return c - 'a' + 6;
  return -1;
}

}  // namespace

Result<Tid> Tid::parse(std::string_view text) {
  // 13 characters hold 65 bits, so the first character must leave the highest bit clear.
  if (text.size() != kTidTextSize || text.front() > 'j') return errc::bad_tid;
  Tid tid;
  for (const char c : text) {
    const int bits = character_value(c);
    if (bits < 0) return errc::bad_tid;
    tid.value = (tid.value << 5) | static_cast<std::uint64_t>(bits);
  }
  return tid;
}

Tid Tid::from_time(Timestamp time, unsigned clock_id) {
  const auto micros = static_cast<std::uint64_t>(time.time_since_epoch().count());
  return {(micros << kClockIdBits) | (clock_id & ((1U << kClockIdBits) - 1))};
}

std::string Tid::to_string() const {
  std::string text(kTidTextSize, '2');
  std::uint64_t rest = value;
  for (std::size_t i = kTidTextSize; i-- > 0; rest >>= 5) text[i] = kAlphabet[rest & 31U];
  return text;
}

}  // namespace skua::atproto
