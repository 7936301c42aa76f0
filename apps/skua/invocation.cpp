#include "invocation.hpp"

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include "postgres/connection_string.hpp"
#include "settings.hpp"

namespace skua::cli {
namespace {

std::string text_of(const toml::node& node) {
  if (const auto text = node.value_exact<std::string>()) return *text;
  std::ostringstream out;
  out << toml::node_view(node);
  return out.str();
}

void require_known_key(const std::string& path, const std::string& name) {
  std::vector<std::string> keys;
  for (const OptionText* each : all_settings()) {
    if (name == each->key || (!each->former_key.empty() && name == each->former_key)) return;
    keys.push_back(each->key);
  }
  throw UsageError(fmt::format("{}: {} is not a setting; the settings are {}", path, name,
                               fmt::join(keys, ", ")));
}

/// Returns a variable of the environment. An empty variable counts as unset.
std::optional<SettingValue> find_variable(const std::string& name) {
  const char* const value = name.empty() ? nullptr : std::getenv(name.c_str());
  if (value == nullptr || *value == '\0') return std::nullopt;
  return SettingValue{value, name};
}

bool is_plain(char c) {
  constexpr std::string_view kOthers = "_-./:@%+,=";
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         kOthers.find(c) != kOthers.npos;
}

}  // namespace

SettingsFile::SettingsFile(std::string path, const std::string& origin) : path_(std::move(path)) {
  toml::table table;
  try {
    table = toml::parse_file(path_);
  } catch (const toml::parse_error& error) {
    throw UsageError(fmt::format("{}: {}: {} (line {})", origin, path_, error.description(),
                                 error.source().begin.line));
  }
  for (const auto& [key, node] : table) {
    const std::string name(key.str());
    require_known_key(path_, name);
    if (node.is_table() || node.is_array()) {
      throw UsageError(fmt::format("{}: {} must be a single value", path_, name));
    }
    values_[name] = text_of(node);
  }
}

std::optional<SettingValue> SettingsFile::find(const std::string& key) const {
  const auto place = key.empty() ? values_.end() : values_.find(key);
  if (place == values_.end()) return std::nullopt;
  return SettingValue{place->second, path_ + ": " + key};
}

Invocation::Invocation(Given given, SettingsFile file)
    : given_(std::move(given)), file_(std::move(file)) {}

std::optional<SettingValue> Invocation::find(const OptionText& option) const {
  if (const auto place = given_.find(option.name);
      place != given_.end() && !place->second.empty()) {
    return SettingValue{place->second.front(), option.name};
  }
  const std::string former = option.former_key.empty() ? "" : variable_of_key(option.former_key);
  for (const std::string& variable : {option.environment, former}) {
    if (auto found = find_variable(variable)) return found;
  }
  for (const std::string& key : {option.key, option.former_key}) {
    if (auto found = file_.find(key)) return found;
  }
  return std::nullopt;
}

std::vector<SettingValue> Invocation::find_all(const OptionText& option) const {
  std::vector<SettingValue> all;
  if (const auto place = given_.find(option.name); place != given_.end()) {
    for (const std::string& value : place->second) all.push_back({value, option.name});
    return all;
  }
  const auto found = find(option);
  if (!found) return all;
  std::istringstream words(found->value);
  for (std::string word; words >> word;) all.push_back({word, found->origin});
  return all;
}

SettingValue Invocation::require(const OptionText& setting, const std::string& example) const {
  if (auto found = find(setting)) return *found;
  throw UsageError(
      fmt::format("{} is needed: give {} {}, set {}, or put {} = \"...\" into the file of --config",
                  setting.name, setting.name, example, setting.environment, setting.key));
}

void Invocation::give(const OptionText& option, std::vector<std::string> values) {
  if (values.empty()) {
    given_.erase(option.name);
  } else {
    given_[option.name] = std::move(values);
  }
}

std::string Invocation::command_to_copy(std::string_view words) const {
  std::string text = fmt::format("{} {}", shell_word(program), words);
  if (is_given(kConfig)) text += " --config " + shell_word(find(kConfig)->value);
  if (is_given(kDatabase)) {
    text += " --database " + shell_word(postgres::without_password(find(kDatabase)->value));
  }
  return text;
}

std::string shell_word(std::string_view word) {
  if (!word.empty() && std::all_of(word.begin(), word.end(), is_plain)) return std::string(word);
  std::string quoted = "'";
  for (const char c : word) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

}  // namespace skua::cli
