#include "command_line/walk.hpp"

namespace skua::command_line {
namespace {

bool is_option(const std::string& word) {
  // A single "-" is standard input, and "-5" is a number; neither is an option.
  return word.size() > 1 && word[0] == '-' && (word[1] < '0' || word[1] > '9');
}

/// Returns whether more values may follow the first value of an option.
bool takes_several(const CLI::Option& option) {
  return option.get_allow_extra_args() && option.get_expected_max() > 1;
}

}  // namespace

const CLI::App* find_command(const CLI::App& parent, const std::string& name) {
  const auto found = parent.get_subcommands(
      [&](const CLI::App* command) { return !name.empty() && command->get_name() == name; });
  return found.empty() ? nullptr : found.front();
}

std::vector<const CLI::App*> visible_commands(const CLI::App& parent) {
  return parent.get_subcommands([](const CLI::App* command) {
    return !command->get_name().empty() && !command->get_group().empty();
  });
}

std::vector<const CLI::Option*> visible_options(const CLI::App& command) {
  return command.get_options([](const CLI::Option* option) {
    return option->nonpositional() && !option->get_group().empty();
  });
}

std::string full_name(const CLI::App& command) {
  const CLI::App* parent = command.get_parent();
  return parent == nullptr ? command.get_name() : full_name(*parent) + " " + command.get_name();
}

std::vector<const CLI::App*> Walk::scopes() const {
  std::vector<const CLI::App*> all;
  for (const CLI::App* command = command_; command != nullptr; command = command->get_parent()) {
    all.push_back(command);
  }
  return all;
}

const CLI::Option* Walk::find_option(const std::string& name) const {
  for (const CLI::App* command : scopes()) {
    const auto found = command->get_options([&](const CLI::Option* option) {
      return name.starts_with("--") ? option->check_lname(name.substr(2))
                                    : option->check_sname(name.substr(1));
    });
    if (!found.empty()) return found.front();
  }
  return nullptr;
}

const CLI::Option* Walk::argument() const {
  const auto all =
      command_->get_options([](const CLI::Option* option) { return option->get_positional(); });
  if (all.empty()) return nullptr;
  if (arguments_ < all.size()) return all[arguments_];
  return all.back()->get_expected_max() > 1 ? all.back() : nullptr;
}

Walk::Word Walk::take(const std::string& word) {
  if (is_value_due_) {
    is_value_due_ = false;
    if (!takes_several(*option_)) option_ = nullptr;
    return Word::Value;
  }
  if (takes_options_ && word == "--") {
    takes_options_ = false;
    option_ = nullptr;
    return Word::Option;
  }
  if (takes_options_ && is_option(word)) return take_option(word);
  if (takes_options_) {
    if (const CLI::App* command = find_command(*command_, word)) {
      command_ = command;
      option_ = nullptr;
      arguments_ = 0;
      return Word::Command;
    }
  }
  if (option_ != nullptr) return Word::Value;
  if (argument() == nullptr && !visible_commands(*command_).empty()) return Word::UnknownCommand;
  arguments_ += 1;
  return Word::Argument;
}

Walk::Word Walk::take_option(const std::string& word) {
  const bool is_long = word[1] == '-';
  const std::size_t equals = is_long ? word.find('=') : std::string::npos;
  const std::string name = is_long ? word.substr(0, equals) : word.substr(0, 2);
  const CLI::Option* option = find_option(name);
  if (option == nullptr) return Word::UnknownOption;
  option_ = nullptr;
  const bool takes_value = option->get_items_expected_max() > 0;
  const bool has_value = equals != std::string::npos || (!is_long && word.size() > 2);
  if (takes_value && (!has_value || takes_several(*option))) option_ = option;
  is_value_due_ = takes_value && !has_value;
  return Word::Option;
}

}  // namespace skua::command_line
