#pragma once

#include "settings.hpp"

namespace skua::sim {

/// Writes a capture of a simulated network, its progress to stderr, and prints one JSON line with
/// the results. Throws if the file exists or cannot be written.
void write_network_capture(const Settings& settings);

}  // namespace skua::sim
