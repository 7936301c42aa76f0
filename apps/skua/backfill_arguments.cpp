#include "backfill_arguments.hpp"

#include "setting_option.hpp"
#include "shared_arguments.hpp"

namespace skua::cli {
namespace {

void add_limits(CLI::App* command, HistoryFlags& flags) {
  add_setting(command, kConcurrency, flags.concurrency);
  add_setting(command, kPerHost, flags.per_host);
  add_setting(command, kLargestRepository, flags.largest_repository);
}

}  // namespace

BackfillArguments::BackfillArguments(CLI::App& app)
    : backfill_(app.add_subcommand("backfill",
                                   "Bring the history of accounts in, as whole repositories")) {
  add_request();
  add_status();
  retry_ = add_change("retry", "Queue repositories again that wait, failed or are unavailable",
                      retry_flags_);
  retry_->footer(
      "Without arguments: all that wait, failed or are unavailable, and lists that failed. "
      "Accounts that are named: also "
      "those that are\ndone or cancelled.\n\n"
      "Examples:\n  skua backfill retry\n  skua backfill retry --state failed\n"
      "  skua backfill retry --host https://pds.example\n  skua backfill retry bsky.app");
  cancel_ =
      add_change("cancel", "Take repositories, and lists of them, out of the queue", cancel_flags_);
  cancel_->add_flag("--all", cancel_flags_.all, "All that is queued or under way");
  cancel_->footer(
      "What is written of them stays. Only those that are queued or under way are cancelled, "
      "unless "
      "--state\nsays otherwise. Lists of a host, a collection or the network are cancelled as "
      "well, "
      "unless accounts\nare named: no more of their pages are read.\n\n"
      "Examples:\n  skua backfill cancel bsky.app\n"
      "  skua backfill cancel --host https://pds.example\n  skua backfill cancel --all");
}

// Options that may be repeated take one value each: what follows are accounts again. CAR files come
// from a shell's pattern.
void BackfillArguments::add_request() {
  HistoryFlags& history = flags_.history;
  backfill_->add_option("WHO", history.who, kAccountForms);
  backfill_->add_option("--file", history.files, "Files of accounts, one a line")
      ->type_name("FILE")
      ->allow_extra_args(false);
  backfill_
      ->add_option("--host", history.hosts,
                   "All accounts of these PDSes, such as https://pds.example")
      ->type_name("URL")
      ->allow_extra_args(false);
  backfill_
      ->add_option("--collection", history.collections,
                   "All accounts that have records of these collections, as --relay knows")
      ->type_name("NSID")
      ->allow_extra_args(false);
  backfill_->add_flag("--network", history.network, "All accounts of all hosts of --relay");
  add_setting(backfill_, kRelay, flags_.relay,
              {.meaning = "The relay that --collection and --network ask"});
  backfill_->add_option("--car", history.cars, "CAR files, one repository each")->type_name("FILE");
  backfill_->add_option("--car-dir", history.car_dirs, "Folders: all files below that end in .car")
      ->type_name("FOLDER")
      ->allow_extra_args(false);
  backfill_
      ->add_option("--since-rev", history.since_rev,
                   "Of the named accounts only what changed after this revision, if they are "
                   "complete as of it")
      ->type_name("TID");
  backfill_->add_flag("--bootstrap", flags_.bootstrap,
                      "Fill an empty database: most indexes are built at the end, and `skua run` "
                      "waits until then");
  add_limits(backfill_, history);
  add_database_option(backfill_, flags_.database);
  add_unsafe_database_flag(backfill_, flags_.allow_unsafe_database);
  add_repository_options(backfill_, flags_.did_docs, flags_.verification);
  add_tuning_options(backfill_, flags_.decode_threads, flags_.stats_interval);
  backfill_->footer(
      "What is asked for is queued in the database, and worked on until the queue is empty. "
      "Ctrl-C leaves the rest\nqueued: `skua backfill` without arguments goes on, and so does "
      "`skua "
      "run`. It may run beside `skua run`, and\nseveral times. Exit code 1: something failed for "
      "good, or was left.\n\n"
      "Examples:\n  skua backfill bsky.app --database postgresql://localhost/skua\n"
      "  skua backfill --host https://pds.example\n"
      "  skua backfill --collection app.bsky.feed.generator --relay "
      "wss://relay1.us-east.bsky.network\n"
      "  skua backfill --network --bootstrap --relay wss://relay1.us-east.bsky.network\n"
      "  skua backfill status");
}

void BackfillArguments::add_status() {
  status_ =
      backfill_->add_subcommand("status", "What is queued, under way and done, and what failed");
  add_database_option(status_, status_flags_.database);
  add_json_flag(status_, status_flags_.json);
  status_->footer(
      "Examples:\n  skua backfill status --database postgresql://localhost/skua\n"
      "  skua backfill status --json | jq .jobs");
}

CLI::App* BackfillArguments::add_change(const char* name, const char* what,
                                        BackfillJobsFlags& flags) {
  CLI::App* command = backfill_->add_subcommand(name, what);
  command->add_option("WHO", flags.who, std::string(kAccountForms) + "; none: all");
  command->add_option("--file", flags.files, "Files of accounts, one a line")
      ->type_name("FILE")
      ->allow_extra_args(false);
  command->add_option("--host", flags.host, "Only those of this PDS, such as https://pds.example")
      ->type_name("URL");
  command->add_option("--state", flags.states, "Only those in this state; may be repeated")
      ->type_name("queued|running|done|unavailable|failed|cancelled")
      ->allow_extra_args(false);
  add_database_option(command, flags.database);
  add_handle_options(command, flags.verification);
  return command;
}

std::optional<int> BackfillArguments::run(const Settings& settings) const {
  if (*status_) return backfill_status(settings, status_flags_);
  if (*retry_) return backfill_retry(settings, retry_flags_);
  if (*cancel_) return backfill_cancel(settings, cancel_flags_);
  if (*backfill_) return backfill(settings, flags_);
  return std::nullopt;
}

void add_history_of_run(CLI::App* command, HistoryFlags& flags) {
  flags.prefix = "--backfill-";
  command
      ->add_option("--backfill", flags.who,
                   "Beside the stream bring in the history of this account")
      ->type_name("DID|HANDLE")
      ->allow_extra_args(false);
  command
      ->add_option("--backfill-file", flags.files,
                   "The same for files of DIDs and handles, one a line")
      ->type_name("FILE")
      ->allow_extra_args(false);
  command->add_option("--backfill-host", flags.hosts, "The same for all accounts of these PDSes")
      ->type_name("URL")
      ->allow_extra_args(false);
  command
      ->add_option("--backfill-collection", flags.collections,
                   "The same for all accounts that have records of these collections")
      ->type_name("NSID")
      ->allow_extra_args(false);
  command->add_flag("--backfill-network", flags.network,
                    "The same for all accounts of all hosts of the relay");
  add_limits(command, flags);
}

}  // namespace skua::cli
