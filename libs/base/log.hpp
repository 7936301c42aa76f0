#pragma once

#include <functional>
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

/// What is done before and after each line is written, as when something else on the screen has to
/// make room; on the thread that logs. Empty: nothing. Neither may log. Returns after lines that
/// are being written.
void set_log_frame(std::function<void()> before, std::function<void()> after);

}  // namespace skua
