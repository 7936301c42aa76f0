#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

namespace skua::command_line {

/// The completions for the word under the cursor.
struct Completion {
  struct Candidate {
    std::string text;
    std::string description;
  };
  enum class Paths : std::uint8_t { None, Files, Directories };

  std::vector<Candidate> candidates;
  /// Whether names of files are offered as well, which the shell finds itself.
  Paths paths = Paths::None;
};

/// The completions of the last word: commands, options, and values of options by their types in
/// --help. FILE and FOLDER are file names; of `full|none|NUMBER` each alternative in lower case is
/// a value. The last word is incomplete and may be empty; no words count as an empty one.
Completion complete(const CLI::App& root, std::span<const std::string> words);

/// As the scripts read it: `text<TAB>description` a line, then `:files` or `:directories`.
std::string completion_text(const Completion& completion);

/// The completion file of a shell (bash, zsh or fish) for a program, which answers
/// `PROGRAM completion words -- WORD...` with completion_text. Nothing for another shell.
std::optional<std::string> completion_script(std::string_view shell, std::string_view program);

}  // namespace skua::command_line
