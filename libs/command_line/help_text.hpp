#pragma once

#include <CLI/CLI.hpp>

namespace skua::command_line {

/// Shows positional arguments by name only, without a type. Call it after all commands are
/// declared.
void hide_argument_types(CLI::App& root);

}  // namespace skua::command_line
