#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

#include "settings.hpp"

namespace skua::cli {

/// `--decode-threads`. The default is half the cores, because PostgreSQL needs the other half. With
/// verification it is the number of cores, because signatures cost more than rows.
std::size_t decode_threads(const Settings& settings, const std::optional<std::string>& flag,
                           bool is_verified);

/// `--consumer-threads`, 2 by default.
std::size_t consumer_threads(const Settings& settings, const std::optional<std::string>& flag);

/// `--stats-interval`, in seconds, 5 by default.
std::chrono::seconds stats_interval(const Settings& settings,
                                    const std::optional<std::string>& flag);

}  // namespace skua::cli
