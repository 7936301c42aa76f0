#include <optional>

#include <CLI/CLI.hpp>

#include "command_list.hpp"
#include "settings.hpp"
#include "shared_arguments.hpp"
#include "source.hpp"

namespace skua::cli {
namespace {

/// `skua source` and its subcommands, on the command line.
class SourceCommand final : public Command {
 public:
  explicit SourceCommand(CLI::App& app);
  std::optional<int> run(const Settings& settings) const override;

 private:
  CLI::App* add(const char* name, const char* what);

  SourceCommandFlags flags_;
  CLI::App* source_;
  CLI::App* list_;
  CLI::App* forget_;
};

SourceCommand::SourceCommand(CLI::App& app)
    : source_(app.add_subcommand("source", "List and remove the sources of a database")),
      list_(add("list", "List the sources with cursor, time and lag")),
      forget_(add("forget", "Delete the saved cursor, metrics and tombstones of a source")) {
  source_->require_subcommand(1);
  source_->footer(
      "Examples:\n  skua source list\n  skua source forget relay:relay1.us-east.bsky.network");
  add_json_flag(list_, flags_.json);
  list_->footer("Example:\n  skua source list --database postgresql://localhost/skua");
  forget_->add_option("NAME", flags_.name, "The name of a source, see `skua source list`")
      ->required();
  forget_->footer(
      "The rows of the source stay. The next `skua run` starts at --cursor, or live without it. "
      "The command "
      "refuses a source that `skua run`\nis reading.\n\nExample:\n  skua source forget "
      "relay:relay1.us-east.bsky.network");
}

CLI::App* SourceCommand::add(const char* name, const char* what) {
  CLI::App* command = source_->add_subcommand(name, what);
  add_database_option(command, flags_.database);
  return command;
}

std::optional<int> SourceCommand::run(const Settings& settings) const {
  if (*list_) return source_list(settings, flags_);
  if (*forget_) return source_forget(settings, flags_);
  return std::nullopt;
}

}  // namespace

std::unique_ptr<Command> make_source_command(CLI::App& app) {
  return std::make_unique<SourceCommand>(app);
}

}  // namespace skua::cli
