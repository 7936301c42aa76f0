#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "invocation.hpp"
#include "option.hpp"

namespace skua::cli {

/// Exit codes of every command. UsageError and the errors of CLI11 have the third.
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

  // Implicit, so that a row is a list of options.
  OptionUse(const OptionText& used) : option(&used) {}  // NOLINT(google-explicit-constructor)
  OptionUse(const OptionText& used, Differences differences)
      : option(&used), other(std::move(differences)) {}

  const OptionText* option;
  Differences other;
};

/// An argument or option that must be given.
inline OptionUse required(const OptionText& option, std::string meaning = {}) {
  return {option, {.meaning = std::move(meaning), .is_required = true}};
}
/// An option with another meaning.
inline OptionUse with_meaning(const OptionText& option, std::string text) {
  return {option, {.meaning = std::move(text)}};
}

/// A command. The text of its help below the options is its section of the files help/*.txt.
struct CommandSpec {
  /// The words behind `skua`, such as "backfill status". A command stands before its subcommands.
  std::string name;
  /// For the list of commands.
  std::string summary;
  /// In the order of --help.
  std::vector<OptionUse> options = {};
  /// Returns the exit code. Throws UsageError for a wrong command line, std::exception if the
  /// command fails. Null: one of its subcommands must be named.
  std::function<int(const Invocation&)> run = nullptr;
  /// At most one of these flags may be given.
  std::vector<const OptionText*> alternatives = {};
  /// The heading above it in the help of its parent; empty: Subcommands.
  std::string group = {};
  /// Replaces that section.
  std::string help = {};
};
using CommandSpecs = std::vector<CommandSpec>;

/// All commands, in the order of `skua --help`.
const CommandSpecs& all_commands();

/// The command with this name, which must exist.
const CommandSpec& find_command(std::string_view name);

/// All files help/*.txt, which the build embeds.
std::string_view help_document();

/// The section below the line `# COMMAND`, such as `# skua run`, which must exist.
std::string help_text(const std::string& command);

}  // namespace skua::cli
