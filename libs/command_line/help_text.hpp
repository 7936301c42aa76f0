#pragma once

#include <CLI/CLI.hpp>

namespace skua::command_line {

/// After all commands are declared: arguments without a name are shown by their names alone, not
/// with a type as well.
void hide_argument_types(CLI::App& root);

}  // namespace skua::command_line
