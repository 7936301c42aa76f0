#pragma once

#include <cstddef>

namespace skua::resolve {

/// Fewer new rows than these are inserted by a statement: a COPY has its price, too.
inline constexpr std::size_t kWorthCopying = 50;

}  // namespace skua::resolve
