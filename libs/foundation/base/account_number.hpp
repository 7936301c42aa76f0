#pragma once

#include <cstdint>

namespace skua {

/// The number that stands for an account in all tables (bsky.actors.id, docs/adr/0004). 0 stands
/// for no account.
using AccountNumber = std::int64_t;

/// A group of accounts, from 0 to kAccountGroups - 1 (docs/adr/0018).
using AccountGroup = std::uint8_t;
inline constexpr unsigned kAccountGroups = 64;

/// The bits of a drawn number below its group. They contain a value of the sequence of account
/// numbers. With six bits of the group, all numbers stay below 2^52, which JavaScript represents
/// exactly.
inline constexpr int kDrawnBits = 46;
inline constexpr AccountNumber kDrawnMask = (AccountNumber{1} << kDrawnBits) - 1;

/// Returns the number of an account of this group. `drawn` is a value of the sequence.
constexpr AccountNumber number_in_group(AccountGroup group, std::int64_t drawn) {
  return AccountNumber{group} << kDrawnBits | drawn;
}

/// The bits of a computed number below its group (atproto/computed_number.hpp).
inline constexpr int kComputedBits = 57;

/// Returns the value of the sequence that a drawn number contains.
constexpr std::int64_t drawn_of(AccountNumber number) {
  return number & kDrawnMask;
}

}  // namespace skua
