#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

namespace skua::command_line {

/// The completions of the word under the cursor.
struct Completion {
  struct Candidate {
    std::string text;
    std::string description;
  };
  enum class Paths : std::uint8_t { None, Files, Directories };

  std::vector<Candidate> candidates;
  /// Says whether the shell also offers file names. The shell finds these itself.
  Paths paths = Paths::None;
};

/// Returns the values of a positional argument of a command, if the program knows them.
using KnownValues = std::function<std::vector<Completion::Candidate>(const CLI::App& command,
                                                                     const CLI::Option& argument)>;

/// Returns the completions of the last word: commands, options, known values of arguments, and
/// values of options by their types in --help. For the types FILE and FOLDER the shell offers file
/// names; for a type such as `full|none|NUMBER` each alternative in lower case is offered. The last
/// word is incomplete and may be empty. An empty `words` counts as one empty word.
Completion complete(const CLI::App& root, std::span<const std::string> words,
                    const KnownValues& known_values = {});

/// Returns the completions in the format that the scripts read: lines `text<TAB>description`, then
/// `:files` or `:directories`.
std::string completion_text(const Completion& completion);

/// Returns the completion script for a shell (bash, zsh or fish) and a program that answers
/// `PROGRAM completion words -- WORD...` with completion_text. Returns nothing for another shell.
std::optional<std::string> completion_script(std::string_view shell, std::string_view program);

}  // namespace skua::command_line
