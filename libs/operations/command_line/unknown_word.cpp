#include "command_line/unknown_word.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "command_line/walk.hpp"

namespace skua::command_line {

namespace {

constexpr std::size_t kLongestWord = 100;

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

/// Returns an error message with the most similar known word or, without one, the command that
/// lists all words.
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

/// Returns whether a word can be a mistyped subcommand. Accounts, files and URLs contain other
/// characters.
bool is_plain(const std::string& word) {
  return std::all_of(word.begin(), word.end(),
                     [](char c) { return (c >= 'a' && c <= 'z') || c == '-'; });
}

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // Row i of the table has, at j, the distance between the first i characters of `a` and the first
  // j of `b`. A row depends on the two rows before it, so only three rows are kept.
  std::vector<std::size_t> before_last(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    // The rows move up. The oldest one is overwritten by the new row.
    before_last.swap(last);
    last.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t deleted = last[j] + 1;
      const std::size_t inserted = row[j - 1] + 1;
      const std::size_t kept_or_replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({deleted, inserted, kept_or_replaced});
      const bool is_swap = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (is_swap) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
  }
  return row[b.size()];
}

std::optional<std::string> suggestion(std::string_view word, std::span<const std::string> known) {
  if (word.size() > kLongestWord) return std::nullopt;
  std::optional<std::string> nearest;
  std::size_t least = 0;
  for (const std::string& candidate : known) {
    const std::size_t distance = edit_distance(word, candidate);
    const std::size_t limit = std::max<std::size_t>(1, candidate.size() / 3);
    if (distance > limit || (nearest && distance >= least)) continue;
    nearest = candidate;
    least = distance;
  }
  return nearest;
}

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
    // If a command has both arguments and subcommands, a mistyped subcommand looks like an
    // argument.
    if (kind == Walk::Word::Argument && walk.takes_options() && is_plain(word)) {
      const auto meant = suggestion(word, command_names(walk.command()));
      if (meant) return about_command(walk.command(), word, meant);
    }
  }
  return std::nullopt;
}

}  // namespace skua::command_line
