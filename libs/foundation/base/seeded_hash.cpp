#include "base/seeded_hash.hpp"

#include <bit>
#include <cstddef>
#include <random>

namespace skua {

namespace {

/// Reads up to eight bytes; the first byte is the lowest.
std::uint64_t little_endian(std::string_view bytes) {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    word |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  }
  return word;
}

struct State {
  std::uint64_t v0, v1, v2, v3;

  void round() {
    v0 += v1;
    v1 = std::rotl(v1, 13) ^ v0;
    v0 = std::rotl(v0, 32);
    v2 += v3;
    v3 = std::rotl(v3, 16) ^ v2;
    v0 += v3;
    v3 = std::rotl(v3, 21) ^ v0;
    v2 += v1;
    v1 = std::rotl(v1, 17) ^ v2;
    v2 = std::rotl(v2, 32);
  }

  void take(std::uint64_t word) {
    v3 ^= word;
    round();
    round();
    v0 ^= word;
  }
};

}  // namespace

std::uint64_t sip_hash(const SipKey& key, std::string_view text) {
  State state{key[0] ^ 0x736f6d6570736575U, key[1] ^ 0x646f72616e646f6dU,
              key[0] ^ 0x6c7967656e657261U, key[1] ^ 0x7465646279746573U};
  const std::uint64_t length = std::uint64_t{text.size()} << 56U;
  constexpr std::size_t kWord = 8;
  while (text.size() >= kWord) {
    state.take(little_endian(text.substr(0, kWord)));
    text.remove_prefix(kWord);
  }
  state.take(little_endian(text) | length);
  state.v2 ^= 0xff;
  for (int i = 0; i < 4; ++i) state.round();
  return state.v0 ^ state.v1 ^ state.v2 ^ state.v3;
}

}  // namespace skua

namespace skua::seeded_hash_detail {

Seeds Seeds::draw() {
  std::random_device source;
  const auto word = [&] { return std::uint64_t{source()} << 32U | source(); };
  return {.first = word(), .second = word()};
}

}  // namespace skua::seeded_hash_detail
