#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include <spdlog/spdlog.h>

namespace skua {

/// A component's log. Messages are bounded in length, from info on also in number (LogThrottle),
/// and their control characters are replaced: they may quote the network. Any thread.
class Logger final : public spdlog::logger {
 public:
  using spdlog::logger::logger;

  template <class... Args>
  void trace(fmt::format_string<Args...> format, Args&&... args) {
    write_detail(spdlog::level::trace, format, fmt::make_format_args(args...));
  }
  template <class... Args>
  void debug(fmt::format_string<Args...> format, Args&&... args) {
    write_detail(spdlog::level::debug, format, fmt::make_format_args(args...));
  }
  template <class... Args>
  void info(fmt::format_string<Args...> format, Args&&... args) {
    write(spdlog::level::info, format, fmt::make_format_args(args...));
  }
  /// Of level info, and not bounded in number: for actions of an operator, who is identified.
  template <class... Args>
  void action(fmt::format_string<Args...> format, Args&&... args) {
    write_detail(spdlog::level::info, format, fmt::make_format_args(args...));
  }
  template <class... Args>
  void warn(fmt::format_string<Args...> format, Args&&... args) {
    write(spdlog::level::warn, format, fmt::make_format_args(args...));
  }
  template <class... Args>
  void error(fmt::format_string<Args...> format, Args&&... args) {
    write(spdlog::level::err, format, fmt::make_format_args(args...));
  }

 private:
  void write(spdlog::level::level_enum level, fmt::string_view format, fmt::format_args args);
  void write_detail(spdlog::level::level_enum level, fmt::string_view format,
                    fmt::format_args args);
};

/// The named logger of a component ("relay", "writer", ...), made on first use, writing to stderr.
/// Any thread. Lines carry did, seq and lane where they have them; nothing per event at info level.
std::shared_ptr<Logger> logger(const std::string& component);

/// Sets the level of all loggers, present and future: trace, debug, info, warn, error, off.
/// Returns false for any other word.
bool set_log_level(const std::string& level);

/// Functions that run before and after each line is written, for example to move other text on the
/// screen; on the thread that logs. Empty: none. Neither may log. Returns after lines that are
/// being written.
void set_log_frame(std::function<void()> before, std::function<void()> after);

/// Writes how many messages the log left out, when a minute is over and at the end of the process.
/// A thread of its own. One a process, made first in main.
class LogSummaries {
 public:
  LogSummaries();
  ~LogSummaries();
  LogSummaries(const LogSummaries&) = delete;
  LogSummaries& operator=(const LogSummaries&) = delete;

 private:
  std::jthread thread_;
};

}  // namespace skua
