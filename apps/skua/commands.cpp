#include "commands.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <stdexcept>
#include <utility>

namespace skua::cli {

// The rows of each command stand beside its function, in the file with its name.
CommandSpecs init_commands(), run_commands(), serve_commands(), migrate_commands(),
    replay_commands(), backfill_commands(), backfill_jobs_commands(), repo_commands(),
    source_commands(), tap_commands(), filter_commands(), consumers_commands(),
    consumer_work_commands(), consumer_changes_commands(), projection_commands(),
    dead_letters_commands(), record_commands(), inspect_commands(), inspect_repo_commands(),
    query_commands(), export_commands(), index_commands(), retention_commands(), lexicon_commands(),
    status_commands(), verify_commands(), top_commands(), doctor_commands(), identity_commands(),
    identity_import_commands(), nodes_commands(), help_commands();

const CommandSpecs& all_commands() {
  constexpr std::array kRows = {init_commands,          run_commands,
                                serve_commands,         migrate_commands,
                                replay_commands,        backfill_commands,
                                backfill_jobs_commands, repo_commands,
                                source_commands,        tap_commands,
                                filter_commands,        consumers_commands,
                                consumer_work_commands, consumer_changes_commands,
                                projection_commands,    dead_letters_commands,
                                record_commands,        inspect_commands,
                                inspect_repo_commands,  query_commands,
                                export_commands,        index_commands,
                                retention_commands,     lexicon_commands,
                                status_commands,        verify_commands,
                                top_commands,           doctor_commands,
                                identity_commands,      identity_import_commands,
                                nodes_commands,         help_commands};
  static const CommandSpecs all = [&] {
    CommandSpecs commands;
    for (const auto rows : kRows) {
      for (CommandSpec& command : rows()) commands.push_back(std::move(command));
    }
    return commands;
  }();
  return all;
}

const CommandSpec& find_command(std::string_view name) {
  const CommandSpecs& all = all_commands();
  const auto found = std::find_if(
      all.begin(), all.end(), [name](const CommandSpec& command) { return command.name == name; });
  if (found == all.end()) throw std::out_of_range("no command " + std::string(name));
  return *found;
}

std::string help_text(const std::string& command) {
  const std::string heading = "# " + command + "\n";
  const std::string_view all = help_document();
  const std::size_t begin = all.find(heading);
  if (begin == all.npos) throw std::out_of_range("no help of " + command);
  std::string_view text = all.substr(begin + heading.size());
  text = text.substr(0, text.find("\n# skua"));
  return std::string(text.substr(0, text.find_last_not_of('\n') + 1));
}

}  // namespace skua::cli
