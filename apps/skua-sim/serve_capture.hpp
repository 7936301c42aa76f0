#pragma once

#include "settings.hpp"

namespace skua::sim {

/// Serves a capture as a relay does, until SIGINT or SIGTERM. Prints one JSON line with the URLs
/// when ready. Throws if the file cannot be read or the port is not available.
void serve_capture(const Settings& settings);

}  // namespace skua::sim
