#pragma once

#include <optional>
#include <span>
#include <string>

#include <CLI/CLI.hpp>

namespace skua::command_line {

/// Why these words cannot be a command line: the first command or option that does not exist, with
/// the one that was probably meant. Nothing: all exist. Values are CLI11's to check.
std::optional<std::string> unknown_word(const CLI::App& root, std::span<const std::string> words);

}  // namespace skua::command_line
