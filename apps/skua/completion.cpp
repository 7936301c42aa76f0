#include "command_line/completion.hpp"

#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/problem.hpp"
#include "command_line/walk.hpp"
#include "commands.hpp"
#include "completion.hpp"
#include "feed/projections/projection.hpp"
#include "index.hpp"

namespace skua::cli {
namespace {

using Candidates = std::vector<command_line::Completion::Candidate>;

Candidates projection_names() {
  Candidates names;
  for (const feed::Projection* projection : feed::projections()) {
    names.push_back({std::string(projection->name), std::string(projection->help)});
  }
  return names;
}

Candidates index_names() {
  Candidates names;
  for (const OptionalIndex& index : optional_indexes()) names.push_back({index.name, index.use});
  return names;
}

Candidates help_topics() {
  Candidates topics = {
      {"settings", "All settings"}, {"metrics", "All metrics"}, {"problems", "All problems"}};
  for (const Problem& problem : kProblems) {
    topics.push_back({std::string(problem.code), std::string(problem.title)});
  }
  return topics;
}

/// The command that prints the completion file of a shell.
CommandSpec shell_command(const std::string& shell) {
  CommandSpec command{"completion " + shell, "For " + shell};
  command.run = [shell](const Invocation&) {
    fmt::print("{}", command_line::completion_script(shell, "skua").value());
    return kSuccess;
  };
  return command;
}

}  // namespace

std::vector<command_line::Completion::Candidate> known_values(const CLI::App& command,
                                                              const CLI::Option& argument) {
  const std::string name = argument.get_name(true);
  const CLI::App* const parent = command.get_parent();
  if (command.get_name() == "help") return help_topics();
  if (name != "NAME" || parent == nullptr) return {};
  if (parent->get_name() == "consumers") return projection_names();
  if (parent->get_name() == "index") return index_names();
  return {};
}

CommandSpecs completion_commands() {
  return {{"completion", "Print a shell's completion file"},
          shell_command("bash"),
          shell_command("zsh"),
          shell_command("fish")};
}

}  // namespace skua::cli
