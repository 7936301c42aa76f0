#include <optional>

#include <CLI/CLI.hpp>

#include "command_list.hpp"
#include "commands.hpp"
#include "shared_arguments.hpp"

namespace skua::cli {
namespace {

/// `skua status`.
class StatusCommand final : public Command {
 public:
  explicit StatusCommand(CLI::App& app);
  std::optional<int> run(const Settings& settings) const override;

 private:
  CLI::App* status_;
  StatusFlags flags_;
};

StatusCommand::StatusCommand(CLI::App& app)
    : status_(app.add_subcommand(
          "status", "Print sources, cursors, lag, backfills, tables and dead letters")) {
  add_database_option(status_, flags_.database);
  add_json_flag(status_, flags_.json);
  status_->footer(
      "The role skua_reader may run this command.\n\n"
      "Examples:\n  skua status --database postgresql://localhost/skua\n"
      "  skua status --json | jq .sources");
}

std::optional<int> StatusCommand::run(const Settings& settings) const {
  if (!*status_) return std::nullopt;
  return status(settings, flags_);
}

}  // namespace

std::unique_ptr<Command> make_status_command(CLI::App& app) {
  return std::make_unique<StatusCommand>(app);
}

}  // namespace skua::cli
