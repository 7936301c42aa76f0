#include <optional>

#include <CLI/CLI.hpp>

#include "command_list.hpp"
#include "commands.hpp"
#include "shared_arguments.hpp"

namespace skua::cli {
namespace {

/// `skua migrate`.
class MigrateCommand final : public Command {
 public:
  explicit MigrateCommand(CLI::App& app);
  std::optional<int> run(const Settings& settings) const override;

 private:
  CLI::App* migrate_;
  MigrateFlags flags_;
};

MigrateCommand::MigrateCommand(CLI::App& app)
    : migrate_(app.add_subcommand("migrate", "Bring the database's schema up to date")) {
  add_database_option(migrate_, flags_.database);
  migrate_->add_flag("--verbose", flags_.verbose, "Print each applied file on a line of its own");
  migrate_->footer("Example:\n  skua migrate --database postgresql://localhost/skua");
}

std::optional<int> MigrateCommand::run(const Settings& settings) const {
  if (!*migrate_) return std::nullopt;
  return migrate(settings, flags_);
}

}  // namespace

std::unique_ptr<Command> make_migrate_command(CLI::App& app) {
  return std::make_unique<MigrateCommand>(app);
}

}  // namespace skua::cli
