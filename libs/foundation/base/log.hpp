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

/// Sets the form of all log lines, present and future: `text`, or `json` with one object for each
/// line (`json_line`). Returns false for any other word. Any thread.
bool set_log_format(std::string_view format);

/// Whether `set_log_format` has chosen JSON. Any thread.
bool log_is_json();

/// What a line of the log states.
struct LogLine {
  Timestamp time;
  /// One of the words of `set_log_level`.
  std::string_view level = {};
  std::string_view component = {};
  std::string_view message = {};
};

/// The line as a JSON object with `time` (RFC 3339, UTC, milliseconds), `level`, `component` and
/// `message`, without a line end. If the message ends with the code of a problem (`with_code`), the
/// object also has `problem`. Bytes that are not UTF-8 become U+FFFD. Pure; any thread.
std::string json_line(const LogLine& line);

/// Limits the log: of messages with the same logger, level and format string it writes the first
/// few different ones. It counts the rest and writes the count once a window. Format strings are
/// part of the program, so neither the number of lines nor the memory depends on the network. Not
/// thread-safe.
class LogThrottle {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// How many different messages of one site are written in a window.
  static constexpr std::size_t kLines = 10;
  static constexpr std::chrono::seconds kWindow{60};

  /// Where messages come from. `level`: the number of a spdlog level.
  struct Site {
    std::string logger;
    int level = 0;
    std::string format;

    bool operator<(const Site& other) const {
      return std::tie(logger, level, format) < std::tie(other.logger, other.level, other.format);
    }
  };

  /// A line that says how many messages were left out.
  struct Summary {
    std::string logger;
    int level = 0;
    std::string text;

    bool operator==(const Summary& other) const = default;
  };

  /// Whether a message is written. Call `due` before it.
  bool admit(const Site& site, std::string_view message, Time now);

  /// The lines to write for windows that have ended.
  std::vector<Summary> due(Time now);

  /// The same of all windows, at the end of the process.
  std::vector<Summary> rest(Time now);

 private:
  struct Window {
    Time begins;
    /// Hashes of the messages that were written.
    std::vector<std::size_t> written;
    /// Messages of this site overflowed the window before.
    bool is_muted = false;
    std::uint64_t left_out = 0;
    std::string last_left_out;
  };

  static Summary summary_of(const Site& site, const Window& window, Time now);

  std::map<Site, Window> windows_;
  Time next_end_ = Time::max();
};

}  // namespace skua
