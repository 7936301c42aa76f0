#pragma once

#include <string>

namespace skua::sim {

/// Returns the part of `--help` below the flags: the tasks of the simulator, its control server,
/// and examples.
std::string help_text();

}  // namespace skua::sim
