#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace skua {

/// The secret of a SipHash: 128 bits.
using SipKey = std::array<std::uint64_t, 2>;

/// Computes SipHash-2-4 (J.-P. Aumasson, D. J. Bernstein). Without the key nobody can predict the
/// number of a text or find two texts with the same number. The result is the same on every
/// machine, so processes can agree on it.
std::uint64_t sip_hash(const SipKey& key, std::string_view text);

namespace seeded_hash_detail {

/// The seeds come from the system's random source before `main`, so each process has its own.
struct Seeds {
  std::uint64_t first;
  std::uint64_t second;
  static Seeds draw();
};
inline const Seeds kSeeds = Seeds::draw();

/// Multiplies 64 by 64 bits and combines the two halves of the product by XOR. Each bit of the
/// result depends on all bits of both numbers.
inline std::uint64_t multiply(std::uint64_t a, std::uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64U);
}

}  // namespace seeded_hash_detail

/// Hashes two words for maps whose keys come from the network. Nobody outside of the process knows
/// the seeds, so nobody can make many keys with the same hash. The hash differs in each process: do
/// not store it. Any thread.
inline std::size_t seeded_hash(std::uint64_t a, std::uint64_t b) {
  using namespace seeded_hash_detail;
  const std::uint64_t mixed = multiply(a ^ kSeeds.first, b ^ kSeeds.second);
  return static_cast<std::size_t>(multiply(mixed ^ kSeeds.second, a ^ kSeeds.first ^ (b >> 1U)));
}

/// Hashes bytes as the function for two words does.
inline std::size_t seeded_hash(std::string_view text) {
  std::uint64_t hash = text.size();
  while (text.size() > sizeof hash) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data(), sizeof word);
    hash = seeded_hash(hash, word);
    text.remove_prefix(sizeof word);
  }
  std::uint64_t word = 0;
  if (!text.empty()) std::memcpy(&word, text.data(), text.size());
  return seeded_hash(hash, word);
}

/// The hash function of a map whose keys are text from the network.
struct SeededHash {
  using is_avalanching = void;
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const { return seeded_hash(text); }
};

}  // namespace skua
