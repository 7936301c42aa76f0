#pragma once

#include <string_view>

namespace skua::store {

/// unique_violation: a row of this key is there already.
inline constexpr std::string_view kUniqueViolation = "23505";
/// out_of_memory in shared memory: the lock table is full.
inline constexpr std::string_view kOutOfMemory = "53200";

}  // namespace skua::store
