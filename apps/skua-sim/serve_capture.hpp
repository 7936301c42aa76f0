#pragma once

#include "settings.hpp"

namespace skua::sim {

/// Serves a capture as a relay does, until SIGINT or SIGTERM. Prints one JSON line with the URLs
/// when ready. Throws when the file cannot be read or the port cannot be had.
void serve_capture(const Settings& settings);

}  // namespace skua::sim
