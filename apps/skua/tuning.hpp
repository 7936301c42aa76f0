#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

#include "settings.hpp"

namespace skua::cli {

/// `--decode-threads`, by default half the cores: the other half is PostgreSQL's. Signatures cost
/// more than rows: who verifies has as many threads as cores.
std::size_t decode_threads(const Settings& settings, const std::optional<std::string>& flag,
                           bool is_verified);

/// `--stats-interval`, in seconds, 5 by default.
std::chrono::seconds stats_interval(const Settings& settings,
                                    const std::optional<std::string>& flag);

}  // namespace skua::cli
