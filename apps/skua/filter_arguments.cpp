#include "filter_arguments.hpp"

#include "shared_arguments.hpp"

namespace skua::cli {

FilterArguments::FilterArguments(CLI::App& app)
    : filter_(app.add_subcommand("filter", "What of the network is stored")),
      show_(add("show", "What is stored, and what waits because of it")),
      set_(add_with_names("set", "Store what is named, and nothing else")),
      add_(add_with_names("add", "Store what is named as well")),
      remove_(add_with_names("remove", "Take names away again")),
      clear_(add("clear", "Store everything")) {
  filter_->require_subcommand(1);
  filter_->footer(
      "Examples:\n  skua filter show\n  skua filter set --collection app.bsky.feed.post");
  add_json_flag(show_, flags_.json);
  show_->footer("Example:\n  skua filter show --database postgresql://localhost/skua");
  set_->footer(
      "Whatever runs on the database follows within a second or two. Repositories whose history "
      "was "
      "brought in\nare downloaded again when more collections pass.\n\n"
      "Example:\n  skua filter set --collection app.bsky.feed.post --collection "
      "'app.bsky.graph.*'\n"
      "  skua filter set --file filter.txt");
  add_->footer(
      "Without names of a kind everything of that kind passes: the first that is added leaves the "
      "others out.\n\n"
      "Example:\n  skua filter add --did did:plc:z72i7hdynmk6r22z27h6tvur\n"
      "  skua filter add --did bsky.app");
  remove_->footer(
      "With the last name of a kind everything of that kind passes again.\n\n"
      "Example:\n  skua filter remove --collection app.bsky.feed.like");
  clear_->footer("Example:\n  skua filter clear");
}

CLI::App* FilterArguments::add(const char* name, const char* what) {
  CLI::App* command = filter_->add_subcommand(name, what);
  add_database_option(command, flags_.database);
  return command;
}

CLI::App* FilterArguments::add_with_names(const char* name, const char* what) {
  CLI::App* command = add(name, what);
  command
      ->add_option("--collection", flags_.names.collections,
                   "A collection, or all that begin alike: app.bsky.graph.*")
      ->type_name("NSID")
      ->allow_extra_args(false);
  command->add_option("--did", flags_.names.dids, std::string("An account: ") + kAccountForms)
      ->type_name("DID")
      ->allow_extra_args(false);
  command
      ->add_option("--file", flags_.names.file,
                   "File of collections, prefixes and DIDs, one a line; # begins a comment")
      ->type_name("FILE");
  add_handle_options(command, flags_.verification);
  return command;
}

std::optional<int> FilterArguments::run(const Settings& settings) const {
  if (*show_) return filter_show(settings, flags_);
  if (*set_) return filter_change(settings, flags_, FilterCommand::Set);
  if (*add_) return filter_change(settings, flags_, FilterCommand::Add);
  if (*remove_) return filter_change(settings, flags_, FilterCommand::Remove);
  if (*clear_) return filter_change(settings, flags_, FilterCommand::Clear);
  return std::nullopt;
}

}  // namespace skua::cli
