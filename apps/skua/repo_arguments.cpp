#include "repo_arguments.hpp"

#include "shared_arguments.hpp"

namespace skua::cli {

RepoArguments::RepoArguments(CLI::App& app)
    : repo_(app.add_subcommand("repo",
                               "Single repositories: their state, and making them equal "
                               "to the network")) {
  repo_->require_subcommand(1);
  repo_->footer("Examples:\n  skua repo info bsky.app\n  skua repo resync bsky.app");
  add_resync();
  add_info();
}

void RepoArguments::add_resync() {
  resync_ = repo_->add_subcommand(
      "resync", "Make what is stored of accounts equal to their repositories, at once");
  resync_->add_option("WHO", resync_flags_.who, kAccountForms);
  resync_->add_option("--file", resync_flags_.files, "Files of accounts, one a line")
      ->type_name("FILE")
      ->allow_extra_args(false);
  resync_->add_option("--car", resync_flags_.cars, "CAR files, one repository each, for those")
      ->type_name("FILE");
  resync_
      ->add_option("--attempts", resync_flags_.attempts,
                   "After how many failures one is given up, 1 to 15 (default 3)")
      ->type_name("NUMBER");
  add_database_option(resync_, resync_flags_.database);
  add_unsafe_database_flag(resync_, resync_flags_.allow_unsafe_database);
  add_repository_options(resync_, resync_flags_.did_docs, resync_flags_.verification);
  add_tuning_options(resync_, resync_flags_.decode_threads, resync_flags_.stats_interval);
  resync_->footer(
      "Rows that the repository does not have are removed, missing ones inserted, those of other "
      "content replaced:\nwhat a Tap does not tell after a resync of its own, and what became "
      "wrong "
      "in any other way. Whole repositories\nare downloaded from their hosts, also of accounts "
      "that "
      "are complete. It may run beside `skua run`; when that has\nan account under way, its end is "
      "waited for. For each account it says what changed. Exit code 1: one could not be\nhad.\n\n"
      "Examples:\n  skua repo resync bsky.app --database postgresql://localhost/skua\n"
      "  skua repo resync --file dids.txt\n  skua repo resync --car alice.car");
}

void RepoArguments::add_info() {
  info_ = repo_->add_subcommand("info", "What the database knows of accounts' repositories");
  info_->add_option("WHO", info_flags_.who, kAccountForms)->required();
  add_database_option(info_, info_flags_.database);
  add_handle_options(info_, info_flags_.verification);
  add_json_flag(info_, info_flags_.json);
  info_->footer(
      "State, head, what is queued or went wrong, and rows by collection.\n\n"
      "Example:\n  skua repo info bsky.app --database postgresql://localhost/skua");
}

std::optional<int> RepoArguments::run(const Settings& settings) const {
  if (*resync_) return repo_resync(settings, resync_flags_);
  if (*info_) return repo_info(settings, info_flags_);
  return std::nullopt;
}

}  // namespace skua::cli
