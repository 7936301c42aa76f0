#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include "settings.hpp"

namespace skua::cli {

/// What a command says of a setting in other words than all others; empty: it does not.
struct OtherWords {
  std::string type = {};
  std::string meaning = {};
  std::string otherwise = {};
};

/// What --help says of a setting: its meaning, its variable and its default.
std::string setting_help(const Setting& setting, const OtherWords& other = {});

/// Adds the option of a setting to a command. `value` gets what the command line gave: a
/// std::optional<std::string>, or a std::vector<std::string> of an option that may be repeated,
/// which takes one value each time. It must outlive the command.
template <class Value>
CLI::Option* add_setting(CLI::App* command, const Setting& setting, Value& value,
                         const OtherWords& other = {}) {
  return command->add_option(setting.flag, value, setting_help(setting, other))
      ->type_name(other.type.empty() ? setting.type : other.type)
      ->allow_extra_args(false);
}

/// The same for a setting that is true or false: its flag makes it true.
CLI::Option* add_setting(CLI::App* command, const Setting& setting, bool& value);

}  // namespace skua::cli
