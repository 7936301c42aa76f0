#include "command_line/unknown_word.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "command_line/suggestion.hpp"
#include "command_line/walk.hpp"

namespace skua::command_line {
namespace {

std::vector<std::string> command_names(const CLI::App& parent) {
  std::vector<std::string> names;
  for (const CLI::App* command : visible_commands(parent)) names.push_back(command->get_name());
  return names;
}

std::vector<std::string> option_names(const Walk& walk) {
  std::vector<std::string> names;
  for (const CLI::App* command : walk.scopes()) {
    for (const CLI::Option* option : visible_options(*command)) {
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    }
  }
  return names;
}

/// The message names the most similar word, otherwise the command that lists all of them.
std::string message(const char* what, std::string_view word, const CLI::App& command,
                    const std::optional<std::string>& meant) {
  const std::string unknown = fmt::format("unknown {} '{}'", what, word);
  if (meant) return fmt::format("{}; did you mean '{}'?", unknown, *meant);
  return fmt::format("{}; `{} --help` lists them", unknown, full_name(command));
}

std::string about_command(const CLI::App& parent, const std::string& word,
                          std::optional<std::string> meant) {
  if (meant && parent.get_parent() != nullptr) meant = full_name(parent) + " " + *meant;
  return message("command", word, parent, meant);
}

/// Accounts, files and URLs also contain other characters.
bool is_plain(const std::string& word) {
  return std::all_of(word.begin(), word.end(),
                     [](char c) { return (c >= 'a' && c <= 'z') || c == '-'; });
}

}  // namespace

std::optional<std::string> unknown_word(const CLI::App& root, std::span<const std::string> words) {
  Walk walk(root);
  for (const std::string& word : words) {
    const Walk::Word kind = walk.take(word);
    if (kind == Walk::Word::UnknownCommand) {
      return about_command(walk.command(), word, suggestion(word, command_names(walk.command())));
    }
    if (kind == Walk::Word::UnknownOption) {
      const std::string name = word.substr(0, word.find('='));
      return message("option", name, walk.command(), suggestion(name, option_names(walk)));
    }
    // For a command with both arguments and subcommands, a mistyped subcommand looks like an
    // argument.
    if (kind == Walk::Word::Argument && walk.takes_options() && is_plain(word)) {
      const auto meant = suggestion(word, command_names(walk.command()));
      if (meant) return about_command(walk.command(), word, meant);
    }
  }
  return std::nullopt;
}

}  // namespace skua::command_line
