#pragma once

#include <string>
#include <string_view>

#include "base/time.hpp"

namespace skua {

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

}  // namespace skua
