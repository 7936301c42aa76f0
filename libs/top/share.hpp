#pragma once

#include <cstddef>
#include <vector>

namespace skua::top {

/// Shares `all` among parts that want some of it: nobody gets more than it wants, and the parts
/// that get less than they want get the same, or one more if they are earlier. Pure.
std::vector<std::size_t> shared_out(const std::vector<std::size_t>& wanted, std::size_t all);

}  // namespace skua::top
