#include <optional>

#include <CLI/CLI.hpp>

#include "command_list.hpp"
#include "retention.hpp"
#include "shared_arguments.hpp"

namespace skua::cli {
namespace {

/// `skua retention` and its subcommands, on the command line.
class RetentionCommand final : public Command {
 public:
  explicit RetentionCommand(CLI::App& app);
  std::optional<int> run(const Settings& settings) const override;

 private:
  CLI::App* add(const char* name, const char* what);
  CLI::App* add_with_collection(const char* name, const char* what);

  RetentionFlags flags_;
  CLI::App* retention_;
  CLI::App* list_;
  CLI::App* set_;
  CLI::App* remove_;
  CLI::App* apply_;
};

RetentionCommand::RetentionCommand(CLI::App& app)
    : retention_(app.add_subcommand("retention", "Show and change how long records are kept")),
      list_(add("list", "List the collections whose old records are removed")),
      set_(add_with_collection("set", "Keep records of a collection for a time only")),
      remove_(add_with_collection("remove", "Keep all records of a collection")),
      apply_(add("apply", "Remove old rows and the rows of excluded and deleted accounts now")) {
  retention_->require_subcommand(1);
  retention_->footer(
      "The age of a record counts from its createdAt or from the time of its indexing, whichever "
      "is earlier.\n\nExamples:\n  skua retention set app.bsky.feed.like 90d\n  skua retention "
      "list");
  add_json_flag(list_, flags_.json);
  list_->footer("Example:\n  skua retention list --database postgresql://localhost/skua");
  set_->add_option("DURATION", flags_.keep, "How long, from 1h on, such as 12h or 30d")->required();
  set_->footer(
      "Running processes skip older records within two seconds, and remove rows that are older "
      "within a day. The change log\nhas the removals.\n\nExample:\n  skua retention set "
      "app.bsky.feed.like 90d");
  remove_->footer(
      "Records that were removed do not come back: use `skua backfill`.\n\nExample:\n  skua "
      "retention remove app.bsky.feed.like");
  apply_->footer(
      "`skua run` does the same, spread over a day. Both may run at the same time.\n\nExample:\n  "
      "skua retention apply");
}

CLI::App* RetentionCommand::add(const char* name, const char* what) {
  CLI::App* command = retention_->add_subcommand(name, what);
  add_database_option(command, flags_.database);
  return command;
}

CLI::App* RetentionCommand::add_with_collection(const char* name, const char* what) {
  CLI::App* command = add(name, what);
  command->add_option("COLLECTION", flags_.collection, "A collection, such as app.bsky.feed.like")
      ->required();
  return command;
}

std::optional<int> RetentionCommand::run(const Settings& settings) const {
  if (*list_) return retention_list(settings, flags_);
  if (*set_) return retention_set(settings, flags_);
  if (*remove_) return retention_remove(settings, flags_);
  if (*apply_) return retention_apply(settings, flags_);
  return std::nullopt;
}

}  // namespace

std::unique_ptr<Command> make_retention_command(CLI::App& app) {
  return std::make_unique<RetentionCommand>(app);
}

}  // namespace skua::cli
