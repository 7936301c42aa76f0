#pragma once

#include <cstdio>
#include <string_view>

namespace skua::cli {

/// `--quiet`: whether progress lines are suppressed. Set it once, before any command runs.
void set_quiet(bool quiet);
bool is_quiet();

/// Prints a progress line at once. Errors and results are printed in other ways, also with
/// `--quiet`.
void print_progress(std::string_view line, std::FILE* stream = stdout);

}  // namespace skua::cli
