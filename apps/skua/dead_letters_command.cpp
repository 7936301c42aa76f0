#include <optional>

#include <CLI/CLI.hpp>

#include "command_line/help_text.hpp"
#include "command_list.hpp"
#include "dead_letters.hpp"
#include "settings.hpp"
#include "shared_arguments.hpp"

namespace skua::cli {
namespace {

/// `skua dead-letters` and its subcommands, on the command line.
class DeadLettersCommand final : public Command {
 public:
  explicit DeadLettersCommand(CLI::App& app);
  std::optional<int> run(const Settings& settings) const override;

 private:
  CLI::App* add(const char* name, const char* what);
  void add_ids(CLI::App* command, bool required);
  void add_filters(CLI::App* command);
  void add_status(CLI::App* command);
  void add_note(CLI::App* command);

  DeadLettersFlags flags_;
  CLI::App* letters_;
  CLI::App* list_;
  CLI::App* show_;
  CLI::App* replay_;
  CLI::App* resolve_;
  CLI::App* discard_;
  CLI::App* purge_;
};

DeadLettersCommand::DeadLettersCommand(CLI::App& app)
    : letters_(app.add_subcommand("dead-letters",
                                  "List, replay and delete input that could not be stored")),
      list_(add("list", "List dead letters, the most recently rejected first")),
      show_(add("show", "Print a dead letter with its content")),
      replay_(add("replay", "Process dead letters again")),
      resolve_(add("resolve", "Mark dead letters as resolved")),
      discard_(add("discard", "Mark dead letters as discarded")),
      purge_(add("purge", "Delete dead letters from the database")) {
  letters_->require_subcommand(1);
  letters_->footer(
      "Examples:\n  skua dead-letters list\n  skua dead-letters show 17\n  skua dead-letters "
      "replay 17");

  add_filters(list_);
  add_status(list_);
  list_->add_option("--limit", flags_.limit, "Maximum number of letters, 1 to 100000 (default 100)")
      ->type_name("NUMBER");
  add_json_flag(list_, flags_.json);
  list_->footer(
      "Without --status: letters that are not finished.\n\nExamples:\n  skua dead-letters list "
      "--database postgresql://localhost/skua\n  skua dead-letters list --error UTF-8 --status "
      "resolved --json");

  add_ids(show_, true);
  add_json_flag(show_, flags_.json);
  show_->footer(
      "Prints a record as JSON, and a summary of a frame.\n\nExample:\n  skua dead-letters show "
      "17");

  add_ids(replay_, false);
  replay_->add_flag("--all", flags_.all, "All dead letters that match the options");
  add_filters(replay_);
  add_unsafe_database_flag(replay_, flags_.allow_unsafe_database);
  replay_->footer(
      "Writes a record again with its revision: an older record never overwrites a newer one. If "
      "the letter is a whole frame, has no\ncomplete record, or is older than the stored head of "
      "its repository, `skua run` or `skua backfill` downloads the\nrepository again. A letter of "
      "a consumer is processed by its consumer. `skua run` may run at the same time."
      "\n\nExamples:\n  skua dead-letters replay 17 18\n "
      " "
      "skua dead-letters replay --all --error \"check constraint\"");
  command_line::explain_exit_codes(*replay_, "all letters are replayed",
                                   "a letter failed again, or cannot be replayed");

  add_ids(resolve_, true);
  add_note(resolve_);
  resolve_->footer(
      "For letters whose content is stored by other means.\n\nExample:\n  skua dead-letters "
      "resolve "
      "17 --note \"resynced the account\"");

  add_ids(discard_, true);
  add_note(discard_);
  discard_->footer(
      "For letters whose content is not wanted. A letter is dead again if its input fails with "
      "another reason.\n\nExample:\n  skua dead-letters discard 17 18 --note spam");

  add_filters(purge_);
  add_status(purge_);
  purge_
      ->add_option(
          "--older-than", flags_.older_than,
          "Only letters that were finished so long ago; if they are not finished: rejected "
          "(for example 12h or 30d)")
      ->type_name("DURATION")
      ->required();
  purge_->add_flag("--force", flags_.force, "Also delete letters that are not finished");
  purge_->footer(
      "Without --status: resolved and discarded letters. `skua run` deletes these after 30 "
      "days.\n\nExamples:\n  skua dead-letters purge --older-than 7d\n  skua dead-letters purge "
      "--older-than 30d --status dead --error UTF-8 --force");
}

CLI::App* DeadLettersCommand::add(const char* name, const char* what) {
  CLI::App* command = letters_->add_subcommand(name, what);
  add_database_option(command, flags_.database);
  return command;
}

void DeadLettersCommand::add_ids(CLI::App* command, bool required) {
  command->add_option("ID", flags_.ids, "Numbers of letters, see `skua dead-letters list`")
      ->required(required);
}

void DeadLettersCommand::add_filters(CLI::App* command) {
  command
      ->add_option("--consumer", flags_.consumer,
                   "Only letters of this consumer; those of the indexer: indexer")
      ->type_name("NAME");
  command->add_option("--did", flags_.did, "Only letters of this account")->type_name("DID");
  command->add_option("--error", flags_.error, "Only letters whose error contains this text")
      ->type_name("WORDS");
}

void DeadLettersCommand::add_status(CLI::App* command) {
  command->add_option("--status", flags_.statuses, "Only letters in this status")
      ->type_name("dead|requested|replaying|resolved|discarded")
      ->allow_extra_args(false);
}

void DeadLettersCommand::add_note(CLI::App* command) {
  command->add_option("--note", flags_.note, "A remark that is stored with the letter")
      ->type_name("WORDS");
}

std::optional<int> DeadLettersCommand::run(const Settings& settings) const {
  if (*list_) return dead_letters_list(settings, flags_);
  if (*show_) return dead_letters_show(settings, flags_);
  if (*replay_) return dead_letters_replay(settings, flags_);
  if (*resolve_) return dead_letters_resolve(settings, flags_);
  if (*discard_) return dead_letters_discard(settings, flags_);
  if (*purge_) return dead_letters_purge(settings, flags_);
  return std::nullopt;
}

}  // namespace

std::unique_ptr<Command> make_dead_letters_command(CLI::App& app) {
  return std::make_unique<DeadLettersCommand>(app);
}

}  // namespace skua::cli
