#include <optional>

#include <CLI/CLI.hpp>

#include "command_line/help_text.hpp"
#include "command_list.hpp"
#include "setting_option.hpp"
#include "shared_arguments.hpp"
#include "top.hpp"

namespace skua::cli {
namespace {

/// `skua top`.
class TopCommand final : public Command {
 public:
  explicit TopCommand(CLI::App& app);
  std::optional<int> run(const Settings& settings) const override;

 private:
  CLI::App* top_;
  TopFlags flags_;
};

TopCommand::TopCommand(CLI::App& app)
    : top_(app.add_subcommand("top", "Show the dashboard of a running process in the terminal")) {
  add_setting(top_, kHttp, flags_.http,
              {.type = "URL",
               .meaning = "Pages of skua run or skua serve: ADDRESS:PORT or an http or https URL",
               .otherwise = "http://127.0.0.1:2580"});
  add_ca_file_option(top_, flags_.ca_file);
  top_->add_option("--every", flags_.every, "Interval at which the pages are read (default 2s)")
      ->type_name("DURATION");
  top_->add_flag("--once", flags_.once,
                 "Print a report and end; the default if stdin or stdout is not a terminal");
  top_->footer(
      "It shows problems and what to do about them, sources, workers, collections, consumers, dead "
      "letters, backfills, tables\nand the newest posts. In the terminal: `q` quits, `h` lists the "
      "keys. The report needs --every, because rates need\ntwo readings.\n\n"
      "Examples:\n  skua top\n"
      "  skua top --http http://127.0.0.1:2470 --every 1s\n"
      "  skua top --once | head -n 2");
  command_line::explain_exit_codes(*top_, "the process is ready; in the terminal: you quit",
                                   "the process is not ready, or does not answer");
}

std::optional<int> TopCommand::run(const Settings& settings) const {
  if (!*top_) return std::nullopt;
  return top(settings, flags_);
}

}  // namespace

std::unique_ptr<Command> make_top_command(CLI::App& app) {
  return std::make_unique<TopCommand>(app);
}

}  // namespace skua::cli
