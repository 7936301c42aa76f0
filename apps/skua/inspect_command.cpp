#include <filesystem>
#include <iostream>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include "command_line/help_text.hpp"
#include "command_list.hpp"
#include "inspect_frames.hpp"
#include "inspect_repo.hpp"
#include "shared_arguments.hpp"

namespace skua::cli {
namespace {

/// `skua inspect` and its subcommands.
class InspectCommand final : public Command {
 public:
  explicit InspectCommand(CLI::App& app);
  std::optional<int> run(const Settings& settings) const override;

 private:
  CLI::App* inspect_;
  CLI::App* frames_;
  CLI::App* repo_;
  std::string file_;
  std::optional<std::filesystem::path> did_docs_;
  bool json_ = false;
};

InspectCommand::InspectCommand(CLI::App& app)
    : inspect_(app.add_subcommand("inspect", "Print the content of a capture or a repository")),
      frames_(inspect_->add_subcommand(
          "frames",
          "Print a JSON line for each operation, account and identity event of a capture")),
      repo_(inspect_->add_subcommand("repo", "List the records of a CAR file")) {
  inspect_->require_subcommand(1);
  inspect_->footer("Examples:\n  skua inspect frames monday.frames\n  skua inspect repo alice.car");
  frames_->add_option("FILE", file_, "A capture")->required();
  add_did_docs_option(frames_, did_docs_);
  frames_->footer(
      "If a frame is invalid, the command continues. With --did-docs each line of "
      "a commit contains\n\"verified\":true, or false with the reason.\n\nExamples:\n  skua "
      "inspect frames monday.frames | jq .commit.collection\n  skua inspect frames monday.frames "
      "--did-docs documents.json > /dev/null");
  command_line::explain_exit_codes(*frames_, "all frames are valid, and with --did-docs verified",
                                   "a frame is invalid or not verified, or the file is damaged");
  repo_->add_option("FILE", file_, "A CAR file of getRepo")->required();
  repo_->add_flag("--json", json_, "Print a JSON line for each record, with its content");
  add_did_docs_option(repo_, did_docs_);
  repo_->footer(
      "The command prints a line path<TAB>cid for each record, and totals to stderr.\n\n"
      "Example:\n  skua inspect repo alice.car | cut -f1");
  command_line::explain_exit_codes(
      *repo_, "the repository is complete, and with --did-docs verified",
      "the file is no repository, or it is incomplete or not verified");
}

std::optional<int> InspectCommand::run(const Settings& /*settings*/) const {
  if (*frames_) return inspect_frames(file_, did_docs_, std::cout, std::cerr);
  if (*repo_) return inspect_repo(file_, json_, did_docs_, std::cout, std::cerr);
  return std::nullopt;
}

}  // namespace

std::unique_ptr<Command> make_inspect_command(CLI::App& app) {
  return std::make_unique<InspectCommand>(app);
}

}  // namespace skua::cli
