#include <optional>

#include <CLI/CLI.hpp>

#include "command_list.hpp"
#include "lexicon.hpp"
#include "shared_arguments.hpp"

namespace skua::cli {
namespace {

/// `skua lexicon` and its subcommands, on the command line.
class LexiconCommand final : public Command {
 public:
  explicit LexiconCommand(CLI::App& app);
  std::optional<int> run(const Settings& settings) const override;

 private:
  CLI::App* add(const char* name, const char* what);
  CLI::App* add_with_nsid(const char* name, const char* what);

  LexiconFlags flags_;
  CLI::App* lexicon_;
  CLI::App* add_;
  CLI::App* list_;
  CLI::App* show_;
  CLI::App* remove_;
  CLI::App* check_;
};

LexiconCommand::LexiconCommand(CLI::App& app)
    : lexicon_(app.add_subcommand("lexicon", "Add lexicons with views of their records")),
      add_(add("add", "Store lexicon documents and create views of their records")),
      list_(add("list", "List the lexicons that were added, their views and indexes")),
      show_(add_with_nsid("show", "Print a lexicon document")),
      remove_(add_with_nsid("remove", "Remove a lexicon with its view and indexes")),
      check_(add("check", "Check the stored records against the present lexicons now")) {
  lexicon_->require_subcommand(1);
  lexicon_->footer(
      "A lexicon that defines a record gives its collection a view in the schema lexicon, with a "
      "column for each property.\n\nExamples:\n  skua lexicon add note.json\n  skua lexicon list");
  add_->add_option("FILE", flags_.files, "A lexicon document as JSON, at most 1 MB")
      ->required()
      ->type_name("FILE");
  add_->add_option("--index", flags_.indexes,
                   "A property of the record: build an index of it while the indexer writes")
      ->type_name("FIELD")
      ->allow_extra_args(false);
  add_->footer(
      "Give all documents that refer to each other at once. A document replaces the one with the "
      "same id, and its view.\n\nExample:\n  skua lexicon add note.json defs.json\n  skua lexicon "
      "add note.json --index title --index createdAt");
  list_->footer("Example:\n  skua lexicon list --database postgresql://localhost/skua");
  show_->footer("Example:\n  skua lexicon show com.example.note");
  remove_->footer("The records stay.\n\nExample:\n  skua lexicon remove com.example.note");
  check_->footer(
      "`skua run` does the same after lexicons have changed, spread over a day. Tables that were "
      "checked since are skipped.\n\nExample:\n  skua lexicon check");
}

CLI::App* LexiconCommand::add(const char* name, const char* what) {
  CLI::App* command = lexicon_->add_subcommand(name, what);
  add_database_option(command, flags_.database);
  return command;
}

CLI::App* LexiconCommand::add_with_nsid(const char* name, const char* what) {
  CLI::App* command = add(name, what);
  command->add_option("NSID", flags_.nsid, "The id of a document, such as com.example.note")
      ->required();
  return command;
}

std::optional<int> LexiconCommand::run(const Settings& settings) const {
  if (*add_) return lexicon_add(settings, flags_);
  if (*list_) return lexicon_list(settings, flags_);
  if (*show_) return lexicon_show(settings, flags_);
  if (*remove_) return lexicon_remove(settings, flags_);
  if (*check_) return lexicon_check(settings, flags_);
  return std::nullopt;
}

}  // namespace

std::unique_ptr<Command> make_lexicon_command(CLI::App& app) {
  return std::make_unique<LexiconCommand>(app);
}

}  // namespace skua::cli
