#include <optional>

#include <CLI/CLI.hpp>

#include "command_list.hpp"
#include "index.hpp"
#include "shared_arguments.hpp"

namespace skua::cli {
namespace {

/// `skua index` and its subcommands, on the command line.
class IndexCommand final : public Command {
 public:
  explicit IndexCommand(CLI::App& app);
  std::optional<int> run(const Settings& settings) const override;

 private:
  CLI::App* add(const char* name, const char* what);
  CLI::App* add_with_name(const char* name, const char* what);

  IndexFlags flags_;
  CLI::App* index_;
  CLI::App* list_;
  CLI::App* add_;
  CLI::App* remove_;
};

IndexCommand::IndexCommand(CLI::App& app)
    : index_(app.add_subcommand("index", "Add and remove optional indexes")),
      list_(add("list", "List the optional indexes, their sizes, uses and costs")),
      add_(add_with_name("add", "Build an optional index while the indexer writes")),
      remove_(add_with_name("remove", "Remove an optional index")) {
  index_->require_subcommand(1);
  index_->footer(
      "Some questions need an index that the indexer does not need. Each index makes writing "
      "slower.\n\nExamples:\n  skua index list\n  skua index add search");
  list_->footer("Example:\n  skua index list --database postgresql://localhost/skua");
  add_->footer(
      "The build does not block writers. It may take hours in a large database. After an "
      "interrupted build, run the command again.\n\nExample:\n  skua index add search");
  remove_->footer("Example:\n  skua index remove search");
}

CLI::App* IndexCommand::add(const char* name, const char* what) {
  CLI::App* command = index_->add_subcommand(name, what);
  add_database_option(command, flags_.database);
  return command;
}

CLI::App* IndexCommand::add_with_name(const char* name, const char* what) {
  CLI::App* command = add(name, what);
  command->add_option("NAME", flags_.name, "The name of an index, see `skua index list`")
      ->required();
  return command;
}

std::optional<int> IndexCommand::run(const Settings& settings) const {
  if (*list_) return index_list(settings, flags_);
  if (*add_) return index_add(settings, flags_);
  if (*remove_) return index_remove(settings, flags_);
  return std::nullopt;
}

}  // namespace

std::unique_ptr<Command> make_index_command(CLI::App& app) {
  return std::make_unique<IndexCommand>(app);
}

}  // namespace skua::cli
