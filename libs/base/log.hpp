#pragma once

#include <memory>
#include <string>

#include <spdlog/spdlog.h>

namespace skua {

/// The named logger of a component ("relay", "writer", ...), made on first use, writing to stderr.
/// Any thread. Lines carry did, seq and lane where they have them; nothing per event at info level.
std::shared_ptr<spdlog::logger> logger(const std::string& component);

/// Sets the level of all loggers, present and future: trace, debug, info, warn, error, off.
/// Returns false for any other word.
bool set_log_level(const std::string& level);

}  // namespace skua
