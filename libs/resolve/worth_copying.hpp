#pragma once

#include <cstddef>

namespace skua::resolve {

/// Fewer rows than these are written by a statement: a COPY has its price, too.
inline constexpr std::size_t kWorthCopying = 50;

}  // namespace skua::resolve
