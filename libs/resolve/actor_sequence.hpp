#pragma once

#include <cstdint>

#include "store/session.hpp"

namespace skua::resolve {

/// Moves the sequence of account numbers to the greatest number that an account has, if it is
/// behind this number, as after a restore of the rows alone. No session draws a number meanwhile.
/// Returns whether it moved. Call it outside of a transaction. Throws store::SqlError.
bool raise_actor_sequence(store::Session& session);

}  // namespace skua::resolve
