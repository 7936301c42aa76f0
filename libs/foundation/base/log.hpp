#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <spdlog/spdlog.h>

#include "base/time.hpp"

namespace skua {

/// A component's log. The length of messages is limited and, from info on, their number
/// (LogThrottle). Control characters are replaced, because a message may quote the network. Any
/// thread.
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
  /// Logs an action of an authenticated operator at level info, without a limit on the number of
  /// messages.
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

/// Returns the logger of a component ("relay", "writer", ...), which writes to stderr. The first
/// call makes the logger. Any thread. Lines contain did, seq and lane where these are known. No
/// component logs single events at level info.
std::shared_ptr<Logger> logger(const std::string& component);

/// Sets the level of all present and future loggers: trace, debug, info, warn, error, off. Returns
/// false for any other word.
bool set_log_level(const std::string& level);

/// Sets functions that run before and after each line, for example to move other text on the
/// screen. They run on the thread that logs and must not log. An empty function does nothing. The
/// call returns after all lines that are being written.
void set_log_frame(std::function<void()> before, std::function<void()> after);

/// Writes the number of messages that the log left out, each minute and at the end of the process.
/// It has a thread of its own. A process makes one object, first in main.
class LogSummaries {
 public:
  LogSummaries();
  ~LogSummaries();
  LogSummaries(const LogSummaries&) = delete;
  LogSummaries& operator=(const LogSummaries&) = delete;

 private:
  std::jthread thread_;
};

/// Sets the form of all present and future log lines: `text`, or `json` with one object for each
/// line (`json_line`). Returns false for any other word. Any thread.
bool set_log_format(std::string_view format);

/// Whether `set_log_format` has chosen JSON. Any thread.
bool log_is_json();

/// The content of a log line.
struct LogLine {
  Timestamp time;
  /// One of the words of `set_log_level`.
  std::string_view level = {};
  std::string_view component = {};
  std::string_view message = {};
};

/// Formats the line as a JSON object with `time` (RFC 3339, UTC, milliseconds), `level`,
/// `component` and `message`, without a line end. If the message ends with the code of a problem
/// (`with_code`), the object also has `problem`. Bytes that are not UTF-8 become U+FFFD. Pure; any
/// thread.
std::string json_line(const LogLine& line);

/// Limits the log: of the messages with the same logger, level and format string, the log writes
/// the first few different ones. The log counts the remaining messages and writes the count after
/// each window. Format strings are part of the program, so neither the number of lines nor the
/// memory depends on the network. Not thread-safe.
class LogThrottle {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// The number of different messages that one site may write in a window.
  static constexpr std::size_t kLines = 10;
  static constexpr std::chrono::seconds kWindow{60};

  /// The origin of messages. `level` is the number of a spdlog level.
  struct Site {
    std::string logger;
    int level = 0;
    std::string format;

    bool operator<(const Site& other) const {
      return std::tie(logger, level, format) < std::tie(other.logger, other.level, other.format);
    }
  };

  /// The content of a line that gives the number of messages left out.
  struct Summary {
    std::string logger;
    int level = 0;
    std::string text;

    bool operator==(const Summary& other) const = default;
  };

  /// Whether a message must be written. Call `due` before this function.
  bool admit(const Site& site, std::string_view message, Time now);

  /// Returns the summaries of the windows that have ended.
  std::vector<Summary> due(Time now);

  /// Returns the summaries of all windows, for the end of the process.
  std::vector<Summary> rest(Time now);

 private:
  struct Window {
    Time begins;
    /// The hashes of the messages that were written in this window.
    std::vector<std::size_t> written;
    /// Whether this site also wrote too many messages in the previous window.
    bool is_muted = false;
    std::uint64_t left_out = 0;
    std::string last_left_out;
  };

  static Summary summary_of(const Site& site, const Window& window, Time now);

  std::map<Site, Window> windows_;
  Time next_end_ = Time::max();
};

}  // namespace skua
