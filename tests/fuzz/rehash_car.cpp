#include <algorithm>
#include <vector>

#include "atproto/cid.hpp"
#include "fuzz/target.hpp"

namespace skua::fuzz {
namespace {

/// Sections that are looked at, so that an input with many costs no seconds.
constexpr std::size_t kMaxSections = 64;
/// Rounds: a change of a record goes through its tree's nodes up to the commit.
constexpr int kMaxRounds = 8;

/// The LEB128 number at the front of `rest`, which it removes; the length of `rest` when there is
/// none.
std::size_t take_length(std::span<std::uint8_t>& rest) {
  std::size_t value = 0;
  for (unsigned shift = 0; !rest.empty() && shift < 28; shift += 7) {
    const std::uint8_t byte = rest.front();
    rest = rest.subspan(1);
    value |= static_cast<std::size_t>(byte & 0x7F) << shift;
    if (byte < 0x80) return std::min(value, rest.size());
  }
  return rest.size();
}

/// The sections behind the header: a CID and its block.
std::vector<std::span<std::uint8_t>> sections_of(std::span<std::uint8_t> car) {
  std::vector<std::span<std::uint8_t>> sections;
  std::span<std::uint8_t> rest = car;
  rest = rest.subspan(take_length(rest));
  while (!rest.empty() && sections.size() < kMaxSections) {
    const std::size_t length = take_length(rest);
    const auto section = rest.first(length);
    rest = rest.subspan(length);
    if (length >= atproto::Cid::kBinarySize &&
        atproto::Cid::is_binary(section.first(atproto::Cid::kBinarySize))) {
      sections.push_back(section);
    }
  }
  return sections;
}

void replace_all(std::span<std::uint8_t> bytes, const atproto::Digest& from,
                 const atproto::Digest& to) {
  auto at = bytes.begin();
  while ((at = std::search(at, bytes.end(), from.begin(), from.end())) != bytes.end()) {
    at = std::copy(to.begin(), to.end(), at);
  }
}

}  // namespace

void rehash_car(std::span<std::uint8_t> bytes, std::span<std::uint8_t> car) {
  if (car.empty()) return;
  const auto sections = sections_of(car);
  bool changed = true;
  for (int round = 0; changed && round < kMaxRounds; ++round) {
    changed = false;
    for (const auto section : sections) {
      const auto name = atproto::Cid::from_trusted_bytes(section.data());
      const auto digest = atproto::sha256(section.subspan(atproto::Cid::kBinarySize));
      if (digest == name.digest) continue;
      replace_all(bytes, name.digest, digest);
      changed = true;
    }
  }
}

}  // namespace skua::fuzz
