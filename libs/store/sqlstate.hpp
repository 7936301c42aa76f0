#pragma once

#include <string_view>

namespace skua::store {

/// unique_violation: a row of this key is there already.
inline constexpr std::string_view kUniqueViolation = "23505";

}  // namespace skua::store
