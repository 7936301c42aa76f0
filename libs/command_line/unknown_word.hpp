#pragma once

#include <optional>
#include <span>
#include <string>

#include <CLI/CLI.hpp>

namespace skua::command_line {

/// The error message for the first command or option that does not exist, with the most similar one
/// that does. Nothing: all exist. CLI11 checks the values.
std::optional<std::string> unknown_word(const CLI::App& root, std::span<const std::string> words);

}  // namespace skua::command_line
