#include <optional>

#include <CLI/CLI.hpp>

#include "command_line/help_text.hpp"
#include "command_list.hpp"
#include "repo.hpp"
#include "settings.hpp"
#include "shared_arguments.hpp"

namespace skua::cli {
namespace {

/// `skua repo` and its subcommands, on the command line.
class RepoCommand final : public Command {
 public:
  explicit RepoCommand(CLI::App& app);
  std::optional<int> run(const Settings& settings) const override;

 private:
  void add_resync();
  void add_info();

  CLI::App* repo_;
  CLI::App* resync_ = nullptr;
  CLI::App* info_ = nullptr;
  RepoResyncFlags resync_flags_;
  RepoInfoFlags info_flags_;
};

RepoCommand::RepoCommand(CLI::App& app)
    : repo_(
          app.add_subcommand("repo", "Show and repair the stored records of single repositories")) {
  repo_->require_subcommand(1);
  repo_->footer("Examples:\n  skua repo info bsky.app\n  skua repo resync bsky.app");
  add_resync();
  add_info();
}

void RepoCommand::add_resync() {
  resync_ = repo_->add_subcommand(
      "resync", "Make the stored records of accounts equal to their repositories");
  resync_->add_option("WHO", resync_flags_.who, kAccountForms);
  resync_->add_option("--file", resync_flags_.files, "Files of accounts, one per line")
      ->type_name("FILE")
      ->allow_extra_args(false);
  resync_
      ->add_option("--car", resync_flags_.cars,
                   "CAR files to use instead of downloads, one repository each")
      ->type_name("FILE");
  resync_
      ->add_option("--attempts", resync_flags_.attempts,
                   "Maximum number of attempts for an account, 1 to 15 (default 3)")
      ->type_name("NUMBER");
  add_database_option(resync_, resync_flags_.database);
  add_unsafe_database_flag(resync_, resync_flags_.allow_unsafe_database);
  add_repository_options(resync_, resync_flags_.did_docs, resync_flags_.verification);
  add_tuning_options(resync_, resync_flags_.decode_threads, resync_flags_.stats_interval);
  resync_->footer(
      "The command downloads whole repositories, also of complete accounts. It deletes rows that a "
      "repository does not contain,\ninserts missing rows, and replaces rows with other content. "
      "Use it for example when a Tap missed a delete. `skua run` may\nrun at the same time: if it "
      "is downloading an account, the command waits. It prints the changes of each "
      "account.\n\nExamples:\n  skua repo resync bsky.app "
      "--database "
      "postgresql://localhost/skua\n  skua repo resync --file dids.txt\n  skua repo resync --car "
      "alice.car");
  command_line::explain_exit_codes(*resync_, "all accounts are equal to their repositories",
                                   "a repository is not available, or cannot be stored");
}

void RepoCommand::add_info() {
  info_ = repo_->add_subcommand("info", "Print the state of repositories");
  info_->add_option("WHO", info_flags_.who, kAccountForms)->required();
  add_database_option(info_, info_flags_.database);
  add_handle_options(info_, info_flags_.verification);
  add_json_flag(info_, info_flags_.json);
  info_->footer(
      "The command prints state, head, job, errors, and the number of rows by "
      "collection.\n\nExample:\n  skua "
      "repo info bsky.app --database postgresql://localhost/skua");
  command_line::explain_exit_codes(*info_, "the database knows all of the accounts",
                                   "it does not know one of them, or a handle does not resolve");
}

std::optional<int> RepoCommand::run(const Settings& settings) const {
  if (*resync_) return repo_resync(settings, resync_flags_);
  if (*info_) return repo_info(settings, info_flags_);
  return std::nullopt;
}

}  // namespace

std::unique_ptr<Command> make_repo_command(CLI::App& app) {
  return std::make_unique<RepoCommand>(app);
}

}  // namespace skua::cli
