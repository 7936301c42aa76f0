#include <chrono>
#include <cstddef>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "base/log_format.hpp"
#include "base/problem.hpp"
#include "base/utf8.hpp"

namespace skua {
namespace {

/// Appends a JSON string (RFC 8259, section 7).
void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const auto byte = static_cast<unsigned char>(text.front());
    if (length == 0) {
      out += "\ufffd";
    } else if (byte == '"' || byte == '\\') {
      out += '\\';
      out += text.front();
    } else if (byte < 0x20) {
      out += fmt::format("\\u{:04x}", byte);
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  out += '"';
}

void append_member(std::string& out, std::string_view name, std::string_view value) {
  out += out.empty() ? '{' : ',';
  append_quoted(out, name);
  out += ':';
  append_quoted(out, value);
}

/// The problem whose code ends the message: `... [database-down]`. Null: none.
const Problem* problem_of(std::string_view message) {
  const std::size_t open = message.rfind(" [");
  if (open == message.npos || !message.ends_with(']')) return nullptr;
  return find_problem(message.substr(open + 2, message.size() - open - 3));
}

}  // namespace

std::string json_line(const LogLine& line) {
  const auto time = std::chrono::floor<std::chrono::milliseconds>(line.time);
  const auto second = std::chrono::floor<std::chrono::seconds>(time);
  std::string out;
  append_member(out, "time",
                fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z",
                            fmt::gmtime(std::chrono::system_clock::to_time_t(second)),
                            (time - second).count()));
  append_member(out, "level", line.level);
  append_member(out, "component", line.component);
  append_member(out, "message", line.message);
  if (const Problem* found = problem_of(line.message)) append_member(out, "problem", found->code);
  out += '}';
  return out;
}

}  // namespace skua
