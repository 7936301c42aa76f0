#include "setting_option.hpp"

#include <fmt/format.h>

namespace skua::cli {

std::string setting_help(const Setting& setting, const SettingHelp& other) {
  const std::string& meaning = other.meaning.empty() ? setting.meaning : other.meaning;
  const std::string& otherwise = other.otherwise.empty() ? setting.otherwise : other.otherwise;
  if (otherwise.empty()) return fmt::format("{} ({})", meaning, setting.environment);
  return fmt::format("{} ({}; default {})", meaning, setting.environment, otherwise);
}

CLI::Option* add_setting(CLI::App* command, const Setting& setting, bool& value) {
  return command->add_flag(setting.flag, value, setting_help(setting));
}

}  // namespace skua::cli
