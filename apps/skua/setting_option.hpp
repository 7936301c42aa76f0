#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include "settings.hpp"

namespace skua::cli {

/// The texts of a command for a setting that differ from the default texts; empty: no difference.
struct SettingHelp {
  std::string type = {};
  std::string meaning = {};
  std::string otherwise = {};
};

/// The help of a setting: its meaning, its variable and its default.
std::string setting_help(const Setting& setting, const SettingHelp& other = {});

/// Adds the option of a setting to a command. `value` receives the command line value: a
/// std::optional<std::string>, or a std::vector<std::string> for an option that may be repeated,
/// with one value each time. It must outlive the command.
template <class Value>
CLI::Option* add_setting(CLI::App* command, const Setting& setting, Value& value,
                         const SettingHelp& other = {}) {
  return command->add_option(setting.flag, value, setting_help(setting, other))
      ->type_name(other.type.empty() ? setting.type : other.type)
      ->allow_extra_args(false);
}

/// The same for a boolean setting: its flag makes it true.
CLI::Option* add_setting(CLI::App* command, const Setting& setting, bool& value);

}  // namespace skua::cli
