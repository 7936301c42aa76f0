#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "base/account_number.hpp"

namespace skua::atproto {

/// The key that all nodes of a network have in common (skua.number_key). It is secret: with it, one
/// can choose DIDs that have the same number.
using NumberKey = std::array<std::uint8_t, 32>;

/// Returns the number of an account on the nodes with this key (docs/adr/0019): the group of the
/// account above 57 bits of SHA-256(key, DID). Never 0. The SQL function
/// skua.computed_account_number has the same result.
AccountNumber computed_account_number(const NumberKey& key, std::string_view did);

}  // namespace skua::atproto
