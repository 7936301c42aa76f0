#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "invocation.hpp"
#include "option.hpp"

namespace skua::cli {

/// The exit codes of every command. UsageError and the errors of CLI11 give the third one.
inline constexpr int kSuccess = 0;
inline constexpr int kFailure = 1;
inline constexpr int kUsage = 2;

inline constexpr const char* kVersion = "skua " SKUA_VERSION;

/// An option in the row of a command, with the texts of its help that differ there.
struct OptionUse {
  struct Differences {
    std::string type = {};
    std::string meaning = {};
    /// The default that the help shows.
    std::string default_text = {};
    bool is_required = false;
  };

  // The constructor is implicit, so that a row can list options.
  OptionUse(const OptionText& used) : option(&used) {}  // NOLINT(google-explicit-constructor)
  OptionUse(const OptionText& used, Differences differences)
      : option(&used), other(std::move(differences)) {}

  const OptionText* option;
  Differences other;
};

/// Marks an argument or option as required.
inline OptionUse required(const OptionText& option, std::string meaning = {}) {
  return {option, {.meaning = std::move(meaning), .is_required = true}};
}
/// Gives an option another meaning for this command.
inline OptionUse with_meaning(const OptionText& option, std::string text) {
  return {option, {.meaning = std::move(text)}};
}

/// A command. The text of its help below the options is its section in the files help/*.txt.
struct CommandSpec {
  /// The words after `skua`, such as "backfill status". A command precedes its subcommands.
  std::string name;
  /// The summary in the list of commands.
  std::string summary;
  /// The options in the order of --help.
  std::vector<OptionUse> options = {};
  /// Runs the command and returns the exit code. Throws UsageError for a wrong command line, and
  /// std::exception if the command fails. Null if the user must name a subcommand.
  std::function<int(const Invocation&)> run = nullptr;
  /// At most one of these flags may be given.
  std::vector<const OptionText*> alternatives = {};
  /// The heading above the command in the help of its parent. If it is empty, the heading is
  /// Subcommands.
  std::string group = {};
  /// This text replaces the section of the help files.
  std::string help = {};
};
using CommandSpecs = std::vector<CommandSpec>;

/// Returns all commands, in the order of `skua --help`.
const CommandSpecs& all_commands();

/// Returns the command with this name, which must exist.
const CommandSpec& find_command(std::string_view name);

/// Returns the text of all files help/*.txt, which the build embeds.
std::string_view help_document();

/// Returns the section of the help files below the line `# COMMAND`, such as `# skua run`. The
/// section must exist.
std::string help_text(const std::string& command);

}  // namespace skua::cli
