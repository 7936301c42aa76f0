#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace skua {

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
