#pragma once

#include <string>
#include <utility>

#include <fmt/format.h>

namespace skua::command_line {

/// The exit code of a program that ended with `code`. If writing to stdout failed, it is 1 instead
/// of 0, and the error goes to stderr. Call it last in `main`.
int finish(const char* program, int code);

/// True after a failed write to stdout: further output is pointless.
bool output_failed();

/// Writes text to stderr. If that fails, the text is lost: no other place is left for it, and the
/// exit code still tells the failure. fmt::print would throw instead, in an error handler too. Any
/// thread.
void write_stderr(const std::string& text);

/// The same for a format and its arguments.
template <class... Args>
void print_stderr(fmt::format_string<Args...> format, Args&&... args) {
  write_stderr(fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace skua::command_line
