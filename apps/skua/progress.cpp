#include "progress.hpp"

#include <atomic>
#include <string>

#include <fmt/format.h>

#include "base/log_format.hpp"
#include "base/time.hpp"
#include "command_line/finish.hpp"

namespace skua::cli {
namespace {

std::atomic<bool> quiet_is_set{false};

std::string as_json(std::string_view level, std::string_view line) {
  return json_line(
      {.time = system_clock().now(), .level = level, .component = "skua", .message = line});
}

}  // namespace

void set_quiet(bool quiet) {
  quiet_is_set = quiet;
}

bool is_quiet() {
  return quiet_is_set;
}

void print_progress(std::string_view line, std::FILE* stream) {
  if (is_quiet()) return;
  const std::string text = log_is_json() ? as_json("info", line) : std::string(line);
  // A failure shows at the end of the program (command_line::finish).
  std::fputs((text + '\n').c_str(), stream);
  std::fflush(stream);
}

void print_last_line(std::string_view line) {
  fmt::print("{}\n", log_is_json() ? as_json("info", line) : std::string(line));
}

void print_error(std::string_view message) {
  command_line::print_stderr(
      "{}\n", log_is_json() ? as_json("error", message) : fmt::format("skua: {}", message));
}

}  // namespace skua::cli
