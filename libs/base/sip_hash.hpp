#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace skua {

/// The secret of a SipHash: 128 bits.
using SipKey = std::array<std::uint64_t, 2>;

/// SipHash-2-4 (J.-P. Aumasson, D. J. Bernstein). Without the key nobody can predict the number of
/// a text or find two texts with the same number. The result is the same on every machine, so
/// processes can agree on it.
std::uint64_t sip_hash(const SipKey& key, std::string_view text);

}  // namespace skua
