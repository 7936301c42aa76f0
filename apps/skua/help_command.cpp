#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "command_line/unknown_word.hpp"
#include "command_line/walk.hpp"
#include "command_list.hpp"
#include "metric_list.hpp"
#include "problem_list.hpp"
#include "settings_text.hpp"

namespace skua::cli {
namespace {

/// `skua help`: the help of any command, as `--help` prints it, all settings, all metrics, and the
/// problems.
class HelpCommand final : public Command {
 public:
  explicit HelpCommand(CLI::App& app);
  std::optional<int> run(const Settings& settings) const override;

 private:
  const CLI::App& root_;
  CLI::App* help_;
  std::vector<std::string> words_;
  bool is_markdown_ = false;
  bool is_toml_ = false;
};

HelpCommand::HelpCommand(CLI::App& app)
    : root_(app),
      help_(app.add_subcommand(
          "help", "Print the help of a command, a problem, all settings or all metrics")) {
  help_->add_option(
      "COMMAND", words_,
      "A command and a subcommand, the code of a problem, or `settings`, `metrics` or "
      "`problems` for all of them");
  help_->add_flag("--markdown", is_markdown_, "The settings, metrics or problems as Markdown");
  help_->add_flag("--toml", is_toml_, "With `settings`: an example of the file of --config")
      ->excludes("--markdown");
  help_->footer(
      "Examples:\n  skua help\n  skua help run\n  skua help backfill status\n  skua help "
      "settings\n  "
      "skua help metrics\n  skua help database-down");
}

std::optional<int> HelpCommand::run(const Settings& /*settings*/) const {
  if (!*help_) return std::nullopt;
  if (is_toml_ && words_ != std::vector<std::string>{"settings"}) {
    throw UsageError("--toml needs `settings`: skua help settings --toml");
  }
  if (words_ == std::vector<std::string>{"settings"}) {
    fmt::print("{}", is_toml_       ? settings_toml()
                     : is_markdown_ ? settings_markdown()
                                    : settings_text());
    return 0;
  }
  if (words_ == std::vector<std::string>{"metrics"}) {
    fmt::print("{}", is_markdown_ ? metric_list_markdown() : metric_list_text());
    return 0;
  }
  if (words_ == std::vector<std::string>{"problems"}) {
    fmt::print("{}", is_markdown_ ? problem_list_markdown() : problem_list_text());
    return 0;
  }
  // `dead-letters` is also a command: its help is that of the command.
  if (words_.size() == 1 && command_line::find_command(root_, words_.front()) == nullptr) {
    if (const Problem* const problem = find_problem(words_.front())) {
      fmt::print("{}", problem_text(*problem));
      return 0;
    }
  }
  const CLI::App* command = &root_;
  for (const std::string& word : words_) {
    const CLI::App* subcommand = command_line::find_command(*command, word);
    if (subcommand == nullptr) {
      const auto problem = command_line::unknown_word(root_, words_);
      throw UsageError(problem.value_or(fmt::format("unknown command '{}'; `{} --help` lists them",
                                                    word, command_line::full_name(*command))));
    }
    command = subcommand;
  }
  fmt::print("{}", command->get_formatter()->make_help(command, command_line::full_name(*command),
                                                       CLI::AppFormatMode::Normal));
  return 0;
}

}  // namespace

std::unique_ptr<Command> make_help_command(CLI::App& app) {
  return std::make_unique<HelpCommand>(app);
}

}  // namespace skua::cli
