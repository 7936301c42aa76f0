#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

namespace skua::command_line {

/// Follows the words of a command line through the tree of commands as CLI11 does, without storing
/// values, for questions that come before the parse or replace it. The tree must outlive it. One
/// thread.
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

  /// Classifies the next word. Unknown words change nothing.
  Word take(const std::string& word);

  /// The command that the words so far select.
  const CLI::App& command() const { return *command_; }

  /// The option that takes the next word, or may take it, as its value; otherwise null.
  const CLI::Option* option_with_value() const { return option_; }
  /// True: the next word must be a value of this option.
  bool must_be_value() const { return is_value_due_; }

  /// The positional argument for the next word; null: the command takes no more.
  const CLI::Option* argument() const;

  /// False after `--`: all further words are arguments.
  bool takes_options() const { return takes_options_; }

  /// An option of the command, or of one above it, by its name with dashes; null if it does not
  /// exist.
  const CLI::Option* find_option(const std::string& name) const;

  /// The command and those above it, innermost first: their options apply.
  std::vector<const CLI::App*> scopes() const;

 private:
  Word take_option(const std::string& word);

  const CLI::App* command_;
  const CLI::Option* option_ = nullptr;
  bool is_value_due_ = false;
  bool takes_options_ = true;
  std::size_t arguments_ = 0;
};

/// The subcommand with this name; null if it does not exist.
const CLI::App* find_command(const CLI::App& parent, const std::string& name);

/// The subcommands that `--help` lists.
std::vector<const CLI::App*> visible_commands(const CLI::App& parent);

/// The options of the command itself that `--help` lists.
std::vector<const CLI::Option*> visible_options(const CLI::App& command);

/// The command with those above it, as a user types it: "skua backfill status".
std::string full_name(const CLI::App& command);

}  // namespace skua::command_line
