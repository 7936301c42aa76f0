#include <optional>

#include <CLI/CLI.hpp>

#include "command_line/help_text.hpp"
#include "command_list.hpp"
#include "commands.hpp"
#include "setting_option.hpp"
#include "settings.hpp"
#include "shared_arguments.hpp"

namespace skua::cli {
namespace {

/// `skua backfill` and its subcommands, on the command line.
class BackfillCommand final : public Command {
 public:
  explicit BackfillCommand(CLI::App& app);
  std::optional<int> run(const Settings& settings) const override;

 private:
  void add_request();
  void add_status();
  CLI::App* add_change(const char* name, const char* what, BackfillJobsFlags& flags);

  CLI::App* backfill_;
  BackfillFlags flags_;
  CLI::App* status_;
  StatusFlags status_flags_;
  CLI::App* retry_;
  BackfillJobsFlags retry_flags_;
  CLI::App* cancel_;
  BackfillJobsFlags cancel_flags_;
};

BackfillCommand::BackfillCommand(CLI::App& app)
    : backfill_(app.add_subcommand("backfill", "Download and index whole repositories")) {
  add_request();
  add_status();
  retry_ =
      add_change("retry", "Queue repositories again that failed or are unavailable", retry_flags_);
  retry_->footer(
      "Without arguments the command queues all repositories that wait, failed or are unavailable, "
      "and all failed lists. It queues\nthe accounts that you name in any state.\n\nExamples:\n  "
      "skua backfill retry\n  skua backfill "
      "retry --state failed\n  skua backfill retry --host https://pds.example\n  skua backfill "
      "retry bsky.app");
  cancel_ = add_change("cancel", "Remove repositories and lists from the queue", cancel_flags_);
  cancel_->add_flag("--all", cancel_flags_.all, "All queued and running repositories and lists");
  cancel_->footer(
      "Stored rows stay. Without --state only queued and running repositories are cancelled. "
      "Unless you name accounts, lists of a\nhost, a collection or the network are cancelled too: "
      "Skua reads no further pages of them.\n\nExamples:\n  skua backfill cancel bsky.app\n  skua "
      "backfill cancel --host https://pds.example\n  skua backfill cancel --all");
}

// Options that may be repeated take one value each, so that the next words are accounts again. A
// shell expands a pattern into several CAR files.
void BackfillCommand::add_request() {
  BackfillRequestFlags& backfill = flags_.backfill;
  backfill_->add_option("WHO", backfill.who, kAccountForms);
  backfill_->add_option("--file", backfill.files, "Files of accounts, one per line")
      ->type_name("FILE")
      ->allow_extra_args(false);
  backfill_
      ->add_option("--host", backfill.hosts,
                   "All accounts of this host, such as https://pds.example")
      ->type_name("URL")
      ->allow_extra_args(false);
  backfill_
      ->add_option("--collection", backfill.collections,
                   "All accounts with records of this collection, according to --relay")
      ->type_name("NSID")
      ->allow_extra_args(false);
  backfill_->add_flag("--network", backfill.network, "All accounts of all hosts of --relay");
  add_setting(backfill_, kRelay, flags_.relay,
              {.meaning = "The relay that --collection and --network ask"});
  backfill_->add_option("--car", backfill.cars, "CAR files, one repository each")
      ->type_name("FILE");
  backfill_->add_option("--car-dir", backfill.car_dirs, "Folders with .car files, at any depth")
      ->type_name("FOLDER")
      ->allow_extra_args(false);
  backfill_
      ->add_option(
          "--since-rev", backfill.since_rev,
          "Download only the changes after this revision, for accounts that are complete as of it")
      ->type_name("TID");
  backfill_->add_flag("--bootstrap", flags_.bootstrap,
                      "For an empty database: build most indexes at the end; `skua run` refuses to "
                      "start until then");
  add_backfill_limits(backfill_, backfill);
  add_database_option(backfill_, flags_.database);
  add_unsafe_database_flag(backfill_, flags_.allow_unsafe_database);
  add_repository_options(backfill_, flags_.did_docs, flags_.verification);
  add_tuning_options(backfill_, flags_.decode_threads, flags_.stats_interval);
  backfill_->footer(
      "The database stores the queue, and the command runs until the queue is empty. After Ctrl-C, "
      "`skua backfill` without\narguments continues, and so does `skua run`. Several processes may "
      "work on the queue.\n\nExamples:\n  skua backfill bsky.app --database "
      "postgresql://localhost/skua\n  "
      "skua backfill --host https://pds.example\n  skua backfill --collection "
      "app.bsky.feed.generator --relay wss://relay1.us-east.bsky.network\n  skua backfill "
      "--network --bootstrap --relay wss://relay1.us-east.bsky.network\n  skua backfill status");
  command_line::explain_exit_codes(
      *backfill_, "every repository is indexed or unavailable, and the queue is empty",
      "a repository failed, an account does not resolve, or the queue is not empty");
}

void BackfillCommand::add_status() {
  status_ = backfill_->add_subcommand("status", "Print the queue, its states and its errors");
  add_database_option(status_, status_flags_.database);
  add_json_flag(status_, status_flags_.json);
  status_->footer(
      "Examples:\n  skua backfill status --database postgresql://localhost/skua\n"
      "  skua backfill status --json | jq .jobs");
}

CLI::App* BackfillCommand::add_change(const char* name, const char* what,
                                      BackfillJobsFlags& flags) {
  CLI::App* command = backfill_->add_subcommand(name, what);
  command->add_option("WHO", flags.who, std::string(kAccountForms) + "; none: all");
  command->add_option("--file", flags.files, "Files of accounts, one per line")
      ->type_name("FILE")
      ->allow_extra_args(false);
  command
      ->add_option("--host", flags.host,
                   "Only repositories of this host, such as https://pds.example")
      ->type_name("URL");
  command->add_option("--state", flags.states, "Only repositories in this state; may be repeated")
      ->type_name("queued|running|done|unavailable|failed|cancelled")
      ->allow_extra_args(false);
  add_database_option(command, flags.database);
  add_handle_options(command, flags.verification);
  return command;
}

std::optional<int> BackfillCommand::run(const Settings& settings) const {
  if (*status_) return backfill_status(settings, status_flags_);
  if (*retry_) return backfill_retry(settings, retry_flags_);
  if (*cancel_) return backfill_cancel(settings, cancel_flags_);
  if (*backfill_) return backfill(settings, flags_);
  return std::nullopt;
}

}  // namespace

std::unique_ptr<Command> make_backfill_command(CLI::App& app) {
  return std::make_unique<BackfillCommand>(app);
}

}  // namespace skua::cli
