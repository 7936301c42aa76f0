#pragma once

#include <cstdint>

#include "store/session.hpp"

namespace skua::resolve {

/// Moves the sequence of account numbers to the greatest number that an account has, if it stands
/// behind that one, as after a restore of the rows alone. Meanwhile nobody draws a number. Returns
/// whether it moved. Outside any transaction. Throws store::SqlError.
bool raise_actor_sequence(store::Session& session);

}  // namespace skua::resolve
