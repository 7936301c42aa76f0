#include <optional>

#include <CLI/CLI.hpp>

#include "command_list.hpp"
#include "filter.hpp"
#include "settings.hpp"
#include "shared_arguments.hpp"

namespace skua::cli {
namespace {

/// `skua filter` and its subcommands, on the command line.
class FilterCommand final : public Command {
 public:
  explicit FilterCommand(CLI::App& app);
  std::optional<int> run(const Settings& settings) const override;

 private:
  CLI::App* add(const char* name, const char* what);
  CLI::App* add_with_names(const char* name, const char* what);
  CLI::App* add_with_accounts(const char* name, const char* what);

  FilterCommandFlags flags_;
  CLI::App* filter_;
  CLI::App* show_;
  CLI::App* set_;
  CLI::App* add_;
  CLI::App* remove_;
  CLI::App* clear_;
  CLI::App* prune_;
  CLI::App* exclude_;
  CLI::App* include_;
};

FilterCommand::FilterCommand(CLI::App& app)
    : filter_(app.add_subcommand("filter",
                                 "Show and change which collections and accounts are stored")),
      show_(add("show", "Print the filter, and repositories that wait because of it")),
      set_(add_with_names("set", "Replace the filter")),
      add_(add_with_names("add", "Add collections and accounts to the filter")),
      remove_(add_with_names("remove", "Remove collections and accounts from the filter")),
      clear_(add("clear", "Remove the filter: store everything")),
      prune_(
          add("prune", "Remove the rows of accounts and collections that the filter leaves out")),
      exclude_(add_with_accounts("exclude", "Exclude accounts and remove their rows")),
      include_(add_with_accounts("include", "End the exclusion of accounts")) {
  filter_->require_subcommand(1);
  filter_->footer(
      "Examples:\n  skua filter show\n  skua filter set --collection app.bsky.feed.post");
  add_json_flag(show_, flags_.json);
  show_->footer("Example:\n  skua filter show --database postgresql://localhost/skua");
  set_->footer(
      "Running processes apply the change within two seconds. If more collections pass, complete "
      "repositories are downloaded\nagain.\n\nExample:\n  skua filter set --collection "
      "app.bsky.feed.post --collection 'app.bsky.graph.*'\n  skua filter set --file filter.txt");
  add_->footer(
      "Without an entry of a kind (collection, account) everything of that kind passes. The first "
      "entry excludes all others.\n\nExample:\n  skua filter add --did "
      "did:plc:z72i7hdynmk6r22z27h6tvur\n  skua filter add --list "
      "https://bsky.app/profile/bsky.app/lists/3kabc");
  remove_->footer(
      "After the last entry of a kind (collection, account) is removed, everything of that kind "
      "passes.\n\nExample:\n  skua filter remove --collection app.bsky.feed.like");
  clear_->footer("Excluded accounts stay excluded.\n\nExample:\n  skua filter clear");
  prune_->footer(
      "The change log has the removals. If more passes later, use `skua backfill`.\n\nExample:\n  "
      "skua filter set --list https://bsky.app/profile/bsky.app/lists/3kabc\n  skua filter prune");
  exclude_->footer(
      "Messages of excluded accounts are not read, and their repositories are not downloaded. "
      "`skua run` removes their rows.\nThe exclusion does not depend on the filter.\n\n"
      "Example:\n  skua filter exclude --did did:plc:z72i7hdynmk6r22z27h6tvur\n  skua filter "
      "exclude --file accounts.txt");
  include_->footer("Example:\n  skua filter include --did did:plc:z72i7hdynmk6r22z27h6tvur");
}

CLI::App* FilterCommand::add(const char* name, const char* what) {
  CLI::App* command = filter_->add_subcommand(name, what);
  add_database_option(command, flags_.database);
  return command;
}

CLI::App* FilterCommand::add_with_names(const char* name, const char* what) {
  CLI::App* command = add(name, what);
  command
      ->add_option("--collection", flags_.names.collections,
                   "A collection, or a prefix such as app.bsky.graph.*")
      ->type_name("NSID")
      ->allow_extra_args(false);
  command->add_option("--did", flags_.names.dids, std::string("An account: ") + kAccountForms)
      ->type_name("DID")
      ->allow_extra_args(false);
  command
      ->add_option("--list", flags_.names.lists,
                   "A list: the accounts on it and its owner pass; AT-URI or bsky.app URL")
      ->type_name("URI")
      ->allow_extra_args(false);
  command
      ->add_option(
          "--file", flags_.names.file,
          "File of collections, prefixes, DIDs and lists, one per line; # begins a comment")
      ->type_name("FILE");
  add_handle_options(command, flags_.verification);
  return command;
}

CLI::App* FilterCommand::add_with_accounts(const char* name, const char* what) {
  CLI::App* command = add(name, what);
  command->add_option("--did", flags_.accounts, std::string("An account: ") + kAccountForms)
      ->type_name("DID")
      ->allow_extra_args(false);
  command->add_option("--file", flags_.files, "File of accounts, one per line; # begins a comment")
      ->type_name("FILE")
      ->allow_extra_args(false);
  add_handle_options(command, flags_.verification);
  return command;
}

std::optional<int> FilterCommand::run(const Settings& settings) const {
  if (*show_) return filter_show(settings, flags_);
  if (*set_) return filter_change(settings, flags_, FilterAction::Set);
  if (*add_) return filter_change(settings, flags_, FilterAction::Add);
  if (*remove_) return filter_change(settings, flags_, FilterAction::Remove);
  if (*clear_) return filter_change(settings, flags_, FilterAction::Clear);
  if (*prune_) return filter_prune(settings, flags_);
  if (*exclude_) return filter_exclude(settings, flags_, true);
  if (*include_) return filter_exclude(settings, flags_, false);
  return std::nullopt;
}

}  // namespace

std::unique_ptr<Command> make_filter_command(CLI::App& app) {
  return std::make_unique<FilterCommand>(app);
}

}  // namespace skua::cli
