#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "app/metric_registry.hpp"
#include "base/problem.hpp"
#include "command_line/completion.hpp"
#include "command_line/display_text.hpp"
#include "command_line/unknown_word.hpp"
#include "command_line/walk.hpp"
#include "commands.hpp"
#include "settings.hpp"

namespace skua::cli {
namespace {

/// Joins the parts that are not empty with commas. Returns `otherwise` if all are empty.
std::string list_of(const std::vector<std::string>& parts, std::string_view otherwise) {
  std::string list;
  for (const std::string& part : parts) {
    if (!part.empty()) list += (list.empty() ? "" : ", ") + part;
  }
  return list.empty() ? std::string(otherwise) : list;
}

std::vector<std::string> labels_of(const pipeline::MetricDeclaration& metric) {
  return {metric.label, metric.info.label};
}

std::vector<std::string> keys_of(const pipeline::MetricDeclaration& metric) {
  const std::string key = metric.info.key;
  if (metric.kind == MetricKind::Histogram && !key.empty()) return {key + "_p50", key + "_p99"};
  return {key};
}

std::string metric_list_text() {
  std::string text =
      "Metrics of `skua run`, `skua backfill` and `skua serve`: the name and the labels in "
      "Prometheus, and the key in the JSON of `skua status --json`.\n";
  for (const pipeline::MetricDeclaration& metric : app::metric_registry()) {
    text += fmt::format("\n{}\n  {}\n  {}, unit: {}, labels: {}, key: {}\n", metric.info.name,
                        metric.info.help, name_of(metric.kind), list_of({metric.info.unit}, "none"),
                        list_of(labels_of(metric), "none"), list_of(keys_of(metric), "none"));
  }
  return text;
}

/// Returns the metrics as the table of docs/metrics.md.
std::string metric_list_markdown() {
  std::string text =
      "| name | kind | unit | labels | key in JSON | meaning |\n|---|---|---|---|---|---|\n";
  for (const pipeline::MetricDeclaration& metric : app::metric_registry()) {
    std::vector<std::string> keys = keys_of(metric);
    for (std::string& key : keys) {
      if (!key.empty()) key = fmt::format("`{}`", key);
    }
    text +=
        fmt::format("| `{}` | {} | {} | {} | {} | {} |\n", metric.info.name, name_of(metric.kind),
                    list_of({metric.info.unit}, "none"), list_of(labels_of(metric), "none"),
                    list_of(keys, "none"), metric.info.help);
  }
  return text;
}

/// Returns a problem as a text for people: code, title, cause and cure.
std::string problem_text(const Problem& problem) {
  return fmt::format("{}: {}\n\nCause: {}\n\nWhat to do: {}\n", problem.code, problem.title,
                     problem.cause, problem.cure);
}

std::string problem_list_text() {
  command_line::Table table({{}, {}});
  for (const Problem& problem : kProblems) {
    table.add({std::string(problem.code), std::string(problem.title)});
  }
  return "Problems that logs, /health/ready and `skua doctor` name. `skua help CODE` explains "
         "one.\n\n" +
         table.text();
}

/// Returns all problems as the sections of docs/problems.md.
std::string problem_list_markdown() {
  std::string text;
  for (const Problem& problem : kProblems) {
    text += fmt::format("{}### {}\n\nProblem: {}.\n\nCause: {}\n\nWhat to do: {}\n",
                        text.empty() ? "" : "\n", problem.code, problem.title, problem.cause,
                        problem.cure);
  }
  return text;
}

/// Returns the topics that the help explains besides commands.
std::vector<std::pair<std::string, std::string>> help_topics() {
  std::vector<std::pair<std::string, std::string>> topics = {
      {"settings", "All settings"}, {"metrics", "All metrics"}, {"problems", "All problems"}};
  for (const Problem& problem : kProblems) topics.emplace_back(problem.code, problem.title);
  return topics;
}

const Option<Texts> kTopic(
    {.name = "COMMAND",
     .meaning = "A command and a subcommand, the code of a problem, or `settings`, `metrics` or "
                "`problems` for all of them",
     .known_values = help_topics});
const Option<bool> kMarkdown({.name = "--markdown",
                              .meaning = "The settings, metrics or problems as Markdown"});
const Option<bool> kToml({.name = "--toml",
                          .meaning = "With `settings`: an example of the file of --config"});

/// Returns the help of a command as `--help` prints it. Throws UsageError for an unknown command.
std::string help_of_command(const CLI::App& root, const Texts& words) {
  const CLI::App* command = &root;
  for (const std::string& word : words) {
    const CLI::App* subcommand = command_line::find_command(*command, word);
    if (subcommand == nullptr) {
      const auto problem = command_line::unknown_word(root, words);
      throw UsageError(problem.value_or(fmt::format("unknown command '{}'; `{} --help` lists them",
                                                    word, command_line::full_name(*command))));
    }
    command = subcommand;
  }
  return command->get_formatter()->make_help(command, command_line::full_name(*command),
                                             CLI::AppFormatMode::Normal);
}

std::string help_of_topic(const Invocation& invocation) {
  const Texts words = invocation[kTopic];
  const bool is_markdown = invocation[kMarkdown];
  const bool is_toml = invocation[kToml];
  if (words == Texts{"settings"}) {
    return is_toml ? settings_toml() : is_markdown ? settings_markdown() : settings_text();
  }
  if (is_toml) throw UsageError("--toml needs `settings`: skua help settings --toml");
  if (words == Texts{"metrics"}) return is_markdown ? metric_list_markdown() : metric_list_text();
  if (words == Texts{"problems"})
    return is_markdown ? problem_list_markdown() : problem_list_text();
  const CLI::App& root = *invocation.commands;
  // `dead-letters` is both a command and a problem; the help of the command takes precedence.
  if (words.size() == 1 && command_line::find_command(root, words.front()) == nullptr) {
    if (const Problem* const problem = find_problem(words.front())) return problem_text(*problem);
  }
  return help_of_command(root, words);
}

int help(const Invocation& invocation) {
  fmt::print("{}", help_of_topic(invocation));
  return kSuccess;
}

/// Returns the command that prints the completion file of a shell.
CommandSpec shell_command(const std::string& shell) {
  CommandSpec command{"completion " + shell, "For " + shell};
  command.run = [shell](const Invocation&) {
    fmt::print("{}", command_line::completion_script(shell, "skua").value());
    return kSuccess;
  };
  return command;
}

}  // namespace

CommandSpecs help_commands() {
  return {{"completion", "Print a shell's completion file"},
          shell_command("bash"),
          shell_command("zsh"),
          shell_command("fish"),
          {"version",
           "Print the version",
           {},
           [](const Invocation&) {
             fmt::print("{}\n", kVersion);
             return kSuccess;
           }},
          {"help",
           "Print the help of a command, a problem, all settings or all metrics",
           {kTopic, kMarkdown, kToml},
           help,
           {&kMarkdown, &kToml}}};
}

}  // namespace skua::cli
