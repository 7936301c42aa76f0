#pragma once

#include <memory>
#include <optional>
#include <vector>

#include <CLI/CLI.hpp>

#include "settings.hpp"

namespace skua::cli {

/// A command with its subcommands. A subclass declares them and their options in its constructor.
/// Created before the parse; outlives it.
class Command {
 public:
  Command() = default;
  virtual ~Command() = default;
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  /// Runs the command if the command line named it, and returns its exit code. Nothing: the command
  /// line named another command.
  virtual std::optional<int> run(const Settings& settings) const = 0;

  /// Whether the command line named this command, and it writes the file of --config instead of
  /// reading it.
  virtual bool writes_config() const { return false; }
};

/// Declares every command, in the order of `skua --help`. `app` must outlive them.
std::vector<std::unique_ptr<Command>> make_commands(CLI::App& app);

// To add a command: a file `<name>_command.cpp` that defines its factory, a line here, and its
// place in make_commands.
std::unique_ptr<Command> make_run_command(CLI::App& app);
std::unique_ptr<Command> make_init_command(CLI::App& app);
std::unique_ptr<Command> make_migrate_command(CLI::App& app);
std::unique_ptr<Command> make_serve_command(CLI::App& app);
std::unique_ptr<Command> make_replay_command(CLI::App& app);
std::unique_ptr<Command> make_backfill_command(CLI::App& app);
std::unique_ptr<Command> make_repo_command(CLI::App& app);
std::unique_ptr<Command> make_source_command(CLI::App& app);
std::unique_ptr<Command> make_tap_command(CLI::App& app);
std::unique_ptr<Command> make_filter_command(CLI::App& app);
std::unique_ptr<Command> make_consumers_command(CLI::App& app);
std::unique_ptr<Command> make_dead_letters_command(CLI::App& app);
std::unique_ptr<Command> make_record_command(CLI::App& app);
std::unique_ptr<Command> make_inspect_command(CLI::App& app);
std::unique_ptr<Command> make_query_command(CLI::App& app);
std::unique_ptr<Command> make_index_command(CLI::App& app);
std::unique_ptr<Command> make_retention_command(CLI::App& app);
std::unique_ptr<Command> make_lexicon_command(CLI::App& app);
std::unique_ptr<Command> make_status_command(CLI::App& app);
std::unique_ptr<Command> make_top_command(CLI::App& app);
std::unique_ptr<Command> make_doctor_command(CLI::App& app);
std::unique_ptr<Command> make_identity_command(CLI::App& app);
std::unique_ptr<Command> make_completion_command(CLI::App& app);
std::unique_ptr<Command> make_version_command(CLI::App& app);
std::unique_ptr<Command> make_help_command(CLI::App& app);

}  // namespace skua::cli
