#pragma once

#include <string_view>

#include <CLI/CLI.hpp>

namespace skua::command_line {

/// Shows positional arguments by name only, without a type. Call it after all commands are
/// declared.
void hide_argument_types(CLI::App& root);

/// Adds the meaning of the exit codes 0 and 1 to the help of a command, before the examples of its
/// footer; that of 2 is the same for all commands. The man page has them too
/// (packaging/man_page.awk). Call it after the footer is set.
void explain_exit_codes(CLI::App& command, std::string_view success, std::string_view failure);

}  // namespace skua::command_line
