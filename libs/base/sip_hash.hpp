#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace skua {

/// The secret of a SipHash: 128 bits.
using SipKey = std::array<std::uint64_t, 2>;

/// SipHash-2-4 (J.-P. Aumasson, D. J. Bernstein): who does not know the key can neither foresee the
/// number of a text nor find two texts that share one. The same on every machine, so that processes
/// may agree on it.
std::uint64_t sip_hash(const SipKey& key, std::string_view text);

}  // namespace skua
