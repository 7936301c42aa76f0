#pragma once

#include "settings.hpp"

namespace skua::sim {

/// Simulates a network on loopback (relay, PDSes, PLC directory, control server), until SIGINT
/// or SIGTERM; then writes the dump, if requested. Prints one JSON line with the URLs
/// when ready. Throws if a port is not available or the dump cannot be written.
void simulate(const Settings& settings);

/// Serves a capture as a relay does, until SIGINT or SIGTERM. Prints one JSON line with the URLs
/// when ready. Throws if the file cannot be read or the port is not available.
void serve_capture(const Settings& settings);

/// Writes a capture of a simulated network, its progress to stderr, and prints one JSON line with
/// the results. Throws if the file exists or cannot be written.
void write_network_capture(const Settings& settings);

}  // namespace skua::sim
