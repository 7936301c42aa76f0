#pragma once

#include <random>
#include <span>

#include "base/bytes.hpp"

namespace skua::fuzz {

/// Longest input that a mutation makes.
inline constexpr std::size_t kMaxInput = 16 * 1024;

/// A copy of `input` with some random changes: bits, bytes and numbers at the edges of their types,
/// ranges that are removed, repeated or taken from one of `others`. Equal generators give equal
/// results.
Bytes mutate(const Bytes& input, std::span<const Bytes> others, std::mt19937_64& random);

}  // namespace skua::fuzz
