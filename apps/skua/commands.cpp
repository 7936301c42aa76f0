#include "commands.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <stdexcept>

namespace skua::cli {

// Each command has its rows beside its function, in the file of its name.
CommandSpecs init_commands();
CommandSpecs run_commands();
CommandSpecs serve_commands();
CommandSpecs migrate_commands();
CommandSpecs replay_commands();
CommandSpecs backfill_commands();
CommandSpecs backfill_jobs_commands();
CommandSpecs repo_commands();
CommandSpecs source_commands();
CommandSpecs tap_commands();
CommandSpecs filter_commands();
CommandSpecs consumers_commands();
CommandSpecs consumer_changes_commands();
CommandSpecs dead_letters_commands();
CommandSpecs record_commands();
CommandSpecs inspect_commands();
CommandSpecs inspect_repo_commands();
CommandSpecs query_commands();
CommandSpecs index_commands();
CommandSpecs retention_commands();
CommandSpecs lexicon_commands();
CommandSpecs status_commands();
CommandSpecs top_commands();
CommandSpecs doctor_commands();
CommandSpecs identity_commands();
CommandSpecs identity_import_commands();
CommandSpecs completion_commands();
CommandSpecs help_commands();

const CommandSpecs& all_commands() {
  static const CommandSpecs all = [] {
    constexpr std::array kTable = {
        init_commands,
        run_commands,
        serve_commands,
        migrate_commands,
        replay_commands,
        backfill_commands,
        backfill_jobs_commands,
        repo_commands,
        source_commands,
        tap_commands,
        filter_commands,
        consumers_commands,
        consumer_changes_commands,
        dead_letters_commands,
        record_commands,
        inspect_commands,
        inspect_repo_commands,
        query_commands,
        index_commands,
        retention_commands,
        lexicon_commands,
        status_commands,
        top_commands,
        doctor_commands,
        identity_commands,
        identity_import_commands,
        completion_commands,
        help_commands,
    };
    CommandSpecs commands;
    for (const auto rows : kTable) {
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
  const std::string heading = "# " + command + "\n\n";
  const std::string_view all = help_document();
  const std::size_t begin = all.find(heading);
  if (begin == all.npos) throw std::out_of_range("no help of " + command);
  std::string_view text = all.substr(begin + heading.size());
  text = text.substr(0, text.find("\n# skua"));
  return std::string(text.substr(0, text.find_last_not_of('\n') + 1));
}

}  // namespace skua::cli
