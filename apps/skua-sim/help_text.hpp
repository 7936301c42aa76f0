#pragma once

#include <string>

namespace skua::sim {

/// What `--help` says after the flags: what the simulator does, its control server, and examples.
std::string help_text();

}  // namespace skua::sim
