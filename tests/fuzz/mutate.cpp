#include "fuzz/mutate.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace skua::fuzz {
namespace {

constexpr int kMaxChanges = 4;

/// Numbers from which on a length, a count or a head of CBOR means something else.
constexpr std::array<std::uint64_t, 14> kEdges{0,
                                               1,
                                               0x17,
                                               0x18,
                                               0x7F,
                                               0x80,
                                               0xFF,
                                               0x7FFF,
                                               0xFFFF,
                                               0x7FFF'FFFF,
                                               0xFFFF'FFFF,
                                               0x7FFF'FFFF'FFFF'FFFF,
                                               0x8000'0000'0000'0000,
                                               0xFFFF'FFFF'FFFF'FFFF};

/// 0 to `end - 1`; 0 for an empty range.
std::size_t below(std::size_t end, std::mt19937_64& random) {
  return end == 0 ? 0 : random() % end;
}

struct Range {
  std::size_t begin;
  std::size_t end;
};

/// A part of so many bytes; short ones are more frequent.
Range part_of(std::size_t size, std::mt19937_64& random) {
  const std::size_t begin = below(size, random);
  const std::size_t longest = std::min(size - begin, std::size_t{1} << below(10, random));
  return {begin, begin + below(longest + 1, random)};
}

void write_number(Bytes& bytes, std::mt19937_64& random) {
  const std::uint64_t number = kEdges[below(kEdges.size(), random)];
  const std::size_t width = std::size_t{1} << below(4, random);
  const std::size_t at = below(bytes.size(), random);
  for (std::size_t i = 0; i < width && at + i < bytes.size(); ++i) {
    bytes[at + i] = static_cast<std::uint8_t>(number >> (8 * (width - 1 - i)));
  }
}

void insert(Bytes& bytes, const Bytes& other, std::mt19937_64& random) {
  const Range part = part_of(other.size(), random);
  const Bytes copy(other.begin() + static_cast<std::ptrdiff_t>(part.begin),
                   other.begin() + static_cast<std::ptrdiff_t>(part.end));
  const auto at = static_cast<std::ptrdiff_t>(below(bytes.size() + 1, random));
  bytes.insert(bytes.begin() + at, copy.begin(), copy.end());
}

void change(Bytes& bytes, std::span<const Bytes> others, std::mt19937_64& random) {
  if (bytes.empty()) bytes.push_back(static_cast<std::uint8_t>(random()));
  switch (below(7, random)) {
    case 0:
      bytes[below(bytes.size(), random)] ^= static_cast<std::uint8_t>(1U << below(8, random));
      break;
    case 1:
      bytes[below(bytes.size(), random)] = static_cast<std::uint8_t>(random());
      break;
    case 2:
      write_number(bytes, random);
      break;
    case 3: {
      const Range part = part_of(bytes.size(), random);
      bytes.erase(bytes.begin() + static_cast<std::ptrdiff_t>(part.begin),
                  bytes.begin() + static_cast<std::ptrdiff_t>(part.end));
      break;
    }
    case 4:
      insert(bytes, bytes, random);
      break;
    case 5:
      if (!others.empty()) insert(bytes, others[below(others.size(), random)], random);
      break;
    default:
      bytes.resize(below(bytes.size(), random));
  }
}

}  // namespace

Bytes mutate(const Bytes& input, std::span<const Bytes> others, std::mt19937_64& random) {
  Bytes bytes = input;
  const std::size_t changes = 1 + below(kMaxChanges, random);
  for (std::size_t i = 0; i < changes; ++i) change(bytes, others, random);
  if (bytes.size() > kMaxInput) bytes.resize(kMaxInput);
  return bytes;
}

}  // namespace skua::fuzz
