#pragma once

#include <cstdio>
#include <string_view>

namespace skua::cli {

/// `--quiet`: whether progress lines are suppressed. Set it once, before any command runs.
void set_quiet(bool quiet);
bool is_quiet();

/// Prints a progress line at once, unless `--quiet` suppresses it. With `--log-format json` these
/// functions print the line as the log does.
void print_progress(std::string_view line, std::FILE* stream = stdout);
/// Prints the result of a command that runs until it is stopped, also with `--quiet`.
void print_last_line(std::string_view line);
/// Prints why the program fails to stderr, also with `--quiet`.
void print_error(std::string_view message);

}  // namespace skua::cli
