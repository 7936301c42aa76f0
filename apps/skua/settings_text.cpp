#include "settings_text.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "settings.hpp"

namespace skua::cli {
namespace {

constexpr std::string_view kOrder =
    "A setting is looked for in this order: flag, environment variable, TOML file (--config FILE "
    "or "
    "SKUA_CONFIG), default.";

std::string otherwise_of(const OptionText& setting) {
  const std::string& text = setting.default_for_people();
  return !text.empty() ? text : setting.is_boolean() ? "false" : "none";
}

/// Escapes vertical lines, which would end a cell.
std::string cell(std::string text) {
  for (auto place = text.find('|'); place != text.npos; place = text.find('|', place + 2)) {
    text.insert(place, 1, '\\');
  }
  return text;
}

/// The value in the example file: the default if it is one word, otherwise the type of the value.
std::string example_value(const OptionText& setting) {
  const std::string& otherwise = setting.default_for_people();
  if (setting.is_boolean()) return "false";
  if (otherwise.empty() || otherwise.find(' ') != otherwise.npos) {
    return fmt::format("\"{}\"", setting.type);
  }
  const bool is_number =
      std::all_of(otherwise.begin(), otherwise.end(), [](char c) { return c >= '0' && c <= '9'; });
  return is_number ? std::string(otherwise) : fmt::format("\"{}\"", otherwise);
}

/// A boolean, or a basic string of TOML.
std::string toml_value(const OptionText& setting, const std::string& value) {
  if (setting.is_boolean()) return value;
  std::string text = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') text += '\\';
    text += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return text + '"';
}

}  // namespace

std::string settings_text() {
  std::string text = fmt::format("{}\n", kOrder);
  for (const OptionText* setting : all_settings()) {
    text += fmt::format("\n{} {}\n  {}\n  variable {}, key {}, default: {}\n", setting->name,
                        setting->type, setting->meaning, setting->environment, setting->key,
                        otherwise_of(*setting));
  }
  return text;
}

std::string settings_markdown() {
  std::string text =
      "| flag | variable | key in the file | default | meaning |\n|---|---|---|---|---|\n";
  for (const OptionText* setting : all_settings()) {
    const std::string type = setting->is_boolean() ? "" : fmt::format(" {}", cell(setting->type));
    text += fmt::format("| `{}{}` | `{}` | `{}` | {} | {} |\n", setting->name, type,
                        setting->environment, setting->key, cell(otherwise_of(*setting)),
                        cell(setting->meaning));
  }
  return text;
}

std::string setting_toml(const OptionText& setting, const std::optional<std::string>& value) {
  return fmt::format("# {}.\n# Default: {}.\n{}{} = {}\n", setting.meaning, otherwise_of(setting),
                     value ? "" : "#", setting.key,
                     value ? toml_value(setting, *value) : example_value(setting));
}

std::string settings_toml() {
  std::string text = fmt::format(
      "# Settings of Skua. To set one, remove the # before its key and change the value.\n# {}\n",
      kOrder);
  for (const OptionText* setting : all_settings()) {
    text += "\n" + setting_toml(*setting, std::nullopt);
  }
  return text;
}

}  // namespace skua::cli
