#include "status_arguments.hpp"

#include "shared_arguments.hpp"

namespace skua::cli {

StatusArguments::StatusArguments(CLI::App& app)
    : status_(app.add_subcommand(
          "status", "Print sources, cursors, lag, backfills, tables and dead letters")) {
  add_database_option(status_, flags_.database);
  add_json_flag(status_, flags_.json);
  status_->footer(
      "The role skua_reader may run this command.\n\n"
      "Examples:\n  skua status --database postgresql://localhost/skua\n"
      "  skua status --json | jq .sources");
}

std::optional<int> StatusArguments::run(const Settings& settings) const {
  if (!*status_) return std::nullopt;
  return status(settings, flags_);
}

}  // namespace skua::cli
