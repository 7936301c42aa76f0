#pragma once

#include "settings.hpp"

namespace skua::sim {

/// Runs a network of its own on loopback (relay, PDSes, PLC directory, control server), until
/// SIGINT, SIGTERM or POST /stop; then writes the dump, if one is asked for. Prints one JSON line
/// with the URLs when ready. Throws when a port cannot be had or the dump cannot be written.
void simulate(const Settings& settings);

}  // namespace skua::sim
