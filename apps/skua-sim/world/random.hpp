#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

#include "atproto/sha256.hpp"
#include "base/bytes.hpp"

namespace skua::sim {

/// Generates numbers that depend only on a seed and are the same with every compiler and standard
/// library, whose distributions differ. The algorithm is SplitMix64: one addition and one mix per
/// number. One thread.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15U;
    std::uint64_t mixed = state_;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9U;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebU;
    return mixed ^ (mixed >> 31);
  }

  /// Returns a number from 0 to `count` - 1. `count` must not be 0.
  std::size_t below(std::size_t count) { return static_cast<std::size_t>(next() % count); }
  /// Returns a number from `low` to `high`, both included.
  std::size_t between(std::size_t low, std::size_t high) { return low + below(high - low + 1); }
  /// Returns a number that is at least 0 and below 1.
  double unit() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }
  bool chance(double probability) { return unit() < probability; }

  template <class Items>
  const auto& pick(const Items& items) {
    return items[below(std::size(items))];
  }

  /// Returns the index of a weight, with a probability equal to its share of the sum. The sum must
  /// not be 0.
  template <class Weights>
  std::size_t weighted(const Weights& weights) {
    double sum = 0;
    for (const double weight : weights) sum += weight;
    double left = unit() * sum;
    std::size_t chosen = 0;
    std::size_t index = 0;
    for (const double weight : weights) {
      if (weight > 0) {
        chosen = index;
        if (left < weight) break;
      }
      left -= weight;
      ++index;
    }
    return chosen;
  }

  /// Returns a number from 0 to `count` - 1 by popularity (Zipf, exponent 1): rank 2n is half as
  /// likely as rank n.
  std::size_t popular(std::size_t count) {
    const double rank = std::pow(static_cast<double>(count) + 1, unit()) - 1;
    const auto index = static_cast<std::size_t>(rank);
    return index < count ? index : count - 1;
  }

 private:
  std::uint64_t state_;
};

/// Returns a generator that depends only on a text (FNV-1a, which the generator mixes).
inline Random random_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char letter : text) {
    hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3U;
  }
  return Random(hash);
}

/// Returns 32 bytes that depend on the seed, a name and a number, for keys and other values that
/// must not depend on earlier events.
inline atproto::Digest derive(std::uint64_t seed, std::string_view name, std::uint64_t number) {
  Bytes input(name.begin(), name.end());
  for (const std::uint64_t value : {seed, number}) {
    for (int shift = 56; shift >= 0; shift -= 8) {
      input.push_back(static_cast<std::uint8_t>(value >> shift));
    }
  }
  return atproto::sha256(input);
}

}  // namespace skua::sim
