#pragma once

#include "settings.hpp"

namespace skua::sim {

/// Simulates a network on loopback (relay, PDSes, PLC directory, control server), until SIGINT
/// or SIGTERM; then writes the dump, if requested. Prints one JSON line with the URLs
/// when ready. Throws if a port is not available or the dump cannot be written.
void simulate(const Settings& settings);

}  // namespace skua::sim
