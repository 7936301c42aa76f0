#include <optional>

#include <CLI/CLI.hpp>

#include "command_line/help_text.hpp"
#include "command_list.hpp"
#include "commands.hpp"
#include "shared_arguments.hpp"

namespace skua::cli {
namespace {

/// `skua replay`.
class ReplayCommand final : public Command {
 public:
  explicit ReplayCommand(CLI::App& app);
  std::optional<int> run(const Settings& settings) const override;

 private:
  CLI::App* replay_;
  ReplayFlags flags_;
};

ReplayCommand::ReplayCommand(CLI::App& app)
    : replay_(app.add_subcommand("replay", "Index a capture")) {
  replay_
      ->add_option("FILE", flags_.file,
                   "A capture of `skua record`, or a file with the messages of a labeler")
      ->required();
  add_database_option(replay_, flags_.database);
  add_unsafe_database_flag(replay_, flags_.allow_unsafe_database);
  add_did_docs_option(replay_, flags_.did_docs);
  add_verify_option(replay_, flags_.verification);
  add_handles_option(replay_, flags_.verification, "claimed");
  add_dns_option(replay_, flags_.verification.dns);
  add_account_options(replay_, flags_.verification);
  add_tuning_options(replay_, flags_.decode_threads, flags_.stats_interval);
  replay_->footer(
      "The command saves no cursor. A second replay changes nothing. Commits are verified with the "
      "keys of --did-docs or --plc, and\nagainst earlier commits of the capture. With --handles "
      "checked and --plc the command verifies all due handles before it exits.\n\nExamples:\n  "
      "skua replay "
      "monday.frames --database postgresql://localhost/skua\n  skua replay monday.frames "
      "--did-docs documents.json\n  skua replay monday.frames --plc https://plc.directory "
      "--handles checked");
  command_line::explain_exit_codes(*replay_, "the whole capture is indexed",
                                   "a part is not indexed, or the capture is damaged");
}

std::optional<int> ReplayCommand::run(const Settings& settings) const {
  if (!*replay_) return std::nullopt;
  return replay(settings, flags_);
}

}  // namespace

std::unique_ptr<Command> make_replay_command(CLI::App& app) {
  return std::make_unique<ReplayCommand>(app);
}

}  // namespace skua::cli
