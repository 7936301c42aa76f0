#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

namespace skua::command_line {

/// Follows the words of a command line through the tree of commands as CLI11 does, without storing
/// values. It serves questions that come before the parse or replace it. The tree must outlive the
/// walk. One thread.
class Walk {
 public:
  enum class Word : std::uint8_t {
    Command,
    Option,
    Value,
    Argument,
    UnknownOption,
    UnknownCommand
  };

  explicit Walk(const CLI::App& root) : command_(&root) {}

  /// Classifies the next word. Unknown words do not change the state.
  Word take(const std::string& word);

  /// Returns the command that the words so far select.
  const CLI::App& command() const { return *command_; }

  /// Returns the option that takes the next word, or may take it, as its value; null if there is
  /// none.
  const CLI::Option* option_with_value() const { return option_; }
  /// Returns true if the next word must be a value of this option.
  bool must_be_value() const { return is_value_due_; }

  /// Returns the positional argument for the next word; null if the command takes no further
  /// argument.
  const CLI::Option* argument() const;

  /// Returns false after `--`, because all further words are arguments.
  bool takes_options() const { return takes_options_; }

  /// Returns an option of the command, or of a command above it, by its name with dashes; null if
  /// there is no such option.
  const CLI::Option* find_option(const std::string& name) const;

  /// Returns the command and the commands above it, innermost first. The options of all of them
  /// apply.
  std::vector<const CLI::App*> scopes() const;

 private:
  Word take_option(const std::string& word);

  const CLI::App* command_;
  const CLI::Option* option_ = nullptr;
  bool is_value_due_ = false;
  bool takes_options_ = true;
  std::size_t arguments_ = 0;
};

/// Returns the subcommand with this name; null if it does not exist.
const CLI::App* find_command(const CLI::App& parent, const std::string& name);

/// Returns the subcommands that `--help` lists.
std::vector<const CLI::App*> visible_commands(const CLI::App& parent);

/// Returns the options of the command itself that `--help` lists.
std::vector<const CLI::Option*> visible_options(const CLI::App& command);

/// Returns the names of the command and the commands above it as a user types them: "skua backfill
/// status".
std::string full_name(const CLI::App& command);

}  // namespace skua::command_line
