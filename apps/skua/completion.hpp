#pragma once

#include <vector>

#include <CLI/CLI.hpp>

#include "command_line/completion.hpp"

namespace skua::cli {

/// The values of arguments that this program knows without a database: projections, optional
/// indexes, and what `skua help` explains besides commands (command_line::KnownValues).
std::vector<command_line::Completion::Candidate> known_values(const CLI::App& command,
                                                              const CLI::Option& argument);

}  // namespace skua::cli
