#pragma once

#include <string>
#include <utility>

#include <fmt/format.h>

namespace skua::command_line {

/// Returns the exit code of a program that ended with `code`. If writing to stdout failed, the exit
/// code is 1 instead of 0, and the error goes to stderr. `main` must call this function last.
int finish(const char* program, int code);

/// Returns true after a failed write to stdout, because further output is then useless.
bool output_failed();

/// Writes text to stderr. If this fails, the text is lost, because there is no other place for it;
/// the exit code still reports the failure. fmt::print would throw instead, even in an error
/// handler. Any thread.
void write_stderr(const std::string& text);

/// Writes formatted text to stderr as `write_stderr` does.
template <class... Args>
void print_stderr(fmt::format_string<Args...> format, Args&&... args) {
  write_stderr(fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace skua::command_line
