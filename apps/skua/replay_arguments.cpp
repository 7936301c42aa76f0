#include "replay_arguments.hpp"

#include "shared_arguments.hpp"

namespace skua::cli {

ReplayArguments::ReplayArguments(CLI::App& app)
    : replay_(app.add_subcommand("replay", "Index a capture from its first frame, and end")) {
  replay_->add_option("FILE", flags_.file, "A capture, as `skua record` makes it")->required();
  add_database_option(replay_, flags_.database);
  add_unsafe_database_flag(replay_, flags_.allow_unsafe_database);
  add_did_docs_option(replay_, flags_.did_docs);
  add_verify_option(replay_, flags_.verification);
  add_handles_option(replay_, flags_.verification, "claimed");
  add_dns_option(replay_, flags_.verification.dns);
  add_account_options(replay_, flags_.verification);
  add_tuning_options(replay_, flags_.decode_threads, flags_.stats_interval);
  replay_->footer(
      "No cursor is saved: a second replay changes nothing. Commits are verified with --did-docs "
      "or --plc, and\nagainst what the capture itself says before them. With --handles checked and "
      "--plc it also looks up every\nhandle that is due before it ends.\n\n"
      "Examples:\n  skua replay monday.frames --database postgresql://localhost/skua\n"
      "  skua replay monday.frames --did-docs documents.json\n"
      "  skua replay monday.frames --plc https://plc.directory --handles checked");
}

std::optional<int> ReplayArguments::run(const Settings& settings) const {
  if (!*replay_) return std::nullopt;
  return replay(settings, flags_);
}

}  // namespace skua::cli
