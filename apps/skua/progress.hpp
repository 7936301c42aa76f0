#pragma once

#include <cstdio>
#include <string_view>

namespace skua::cli {

/// `--quiet`: whether lines about the progress of a command are left out. Set once, before any
/// command runs.
void set_quiet(bool quiet);
bool is_quiet();

/// Prints a line about the progress of a command at once. Errors and results are printed otherwise:
/// they are shown with `--quiet` too.
void print_progress(std::string_view line, std::FILE* stream = stdout);

}  // namespace skua::cli
