#include "command_list.hpp"

#include <array>

namespace skua::cli {

std::vector<std::unique_ptr<Command>> make_commands(CLI::App& app) {
  constexpr std::array kFactories = {
      make_init_command,     make_run_command,        make_serve_command,
      make_migrate_command,  make_replay_command,     make_backfill_command,
      make_repo_command,     make_source_command,     make_tap_command,
      make_filter_command,   make_consumers_command,  make_dead_letters_command,
      make_record_command,   make_inspect_command,    make_query_command,
      make_index_command,    make_retention_command,  make_lexicon_command,
      make_status_command,   make_top_command,        make_doctor_command,
      make_identity_command, make_completion_command, make_version_command,
      make_help_command,
  };
  std::vector<std::unique_ptr<Command>> commands;
  commands.reserve(kFactories.size());
  for (const auto make : kFactories) commands.push_back(make(app));
  return commands;
}

}  // namespace skua::cli
