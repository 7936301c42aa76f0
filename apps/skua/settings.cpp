#include "settings.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <sstream>
#include <string_view>

#include <fmt/format.h>
#include <toml++/toml.h>

namespace skua::cli {
namespace {

/// In a function, because settings may be constructed before the variables of this file.
std::vector<const Setting*>& declared() {
  static std::vector<const Setting*> all;
  return all;
}

std::string text_of(const toml::node& node) {
  if (const auto text = node.value_exact<std::string>()) return *text;
  std::ostringstream out;
  out << toml::node_view(node);
  return out.str();
}

}  // namespace

Setting::Setting(const SettingText& text) : SettingText(text) {
  declared().push_back(this);
}

const std::vector<const Setting*>& Setting::all() {
  return declared();
}

std::string Settings::name_file(const std::optional<std::string>& config_flag) {
  if (config_flag) {
    file_ = *config_flag;
    return "--config";
  }
  if (const char* path = std::getenv("SKUA_CONFIG"); path != nullptr) file_ = path;
  return "SKUA_CONFIG";
}

Settings::Settings(const std::optional<std::string>& config_flag, WithoutFile /*tag*/) {
  name_file(config_flag);
}

Settings::Settings(const std::optional<std::string>& config_flag) {
  const std::string origin = name_file(config_flag);
  if (file_.empty() && !config_flag) return;
  toml::table table;
  try {
    table = toml::parse_file(file_);
  } catch (const toml::parse_error& error) {
    throw UsageError(fmt::format("{}: {}: {} (line {})", origin, file_, error.description(),
                                 error.source().begin.line));
  }
  for (const auto& [key, node] : table) {
    const std::string name(key.str());
    const auto& all = Setting::all();
    const bool known = std::any_of(all.begin(), all.end(), [&](const Setting* each) {
      return name == each->key || (each->former_key != nullptr && name == each->former_key);
    });
    if (!known) {
      std::string names;
      for (const Setting* each : all) {
        names += std::string(names.empty() ? "" : ", ") + each->key;
      }
      throw UsageError(
          fmt::format("{}: {} is not a setting; the settings are {}", file_, name, names));
    }
    if (node.is_table() || node.is_array()) {
      throw UsageError(fmt::format("{}: {} must be a single value", file_, name));
    }
    values_[name] = text_of(node);
  }
}

std::optional<Found> Settings::find(const Setting& setting,
                                    const std::optional<std::string>& flag) const {
  if (flag) return Found{*flag, setting.flag};
  for (const char* variable : {setting.environment, setting.former_environment}) {
    // An empty variable counts as unset.
    const char* value = variable == nullptr ? nullptr : std::getenv(variable);
    if (value != nullptr && *value != '\0') return Found{value, variable};
  }
  for (const char* key : {setting.key, setting.former_key}) {
    if (key == nullptr) continue;
    const auto place = values_.find(key);
    if (place != values_.end()) return Found{place->second, file_ + ": " + key};
  }
  return std::nullopt;
}

Found Settings::require(const Setting& setting, const std::optional<std::string>& flag,
                        const std::string& example) const {
  if (auto found = find(setting, flag)) return *found;
  throw UsageError(
      fmt::format("{} is needed: give {} {}, set {}, or put {} = \"...\" into the file of --config",
                  setting.flag, setting.flag, example, setting.environment, setting.key));
}

bool yes(const std::optional<Found>& found) {
  if (!found || found->value == "false" || found->value == "0") return false;
  if (found->value == "true" || found->value == "1") return true;
  throw UsageError(fmt::format("{}: '{}' is neither true nor false", found->origin, found->value));
}

std::int64_t whole_number(const Found& found, std::int64_t least, std::int64_t most) {
  std::int64_t number = 0;
  const char* end = found.value.data() + found.value.size();
  const auto [stop, error] = std::from_chars(found.value.data(), end, number);
  if (error != std::errc{} || stop != end || number < least || number > most) {
    throw UsageError(fmt::format("{}: '{}' is not a whole number from {} to {}", found.origin,
                                 found.value, least, most));
  }
  return number;
}

namespace {

/// Zero: unknown unit.
std::chrono::seconds unit_of(std::string_view name) {
  if (name == "s") return std::chrono::seconds(1);
  if (name == "m") return std::chrono::minutes(1);
  if (name == "h") return std::chrono::hours(1);
  return name == "d" ? std::chrono::days(1) : std::chrono::seconds(0);
}

/// Uses the largest of those units that leaves no remainder.
std::string duration_text(std::chrono::seconds duration) {
  for (const char* name : {"d", "h", "m"}) {
    if (duration % unit_of(name) == std::chrono::seconds(0)) {
      return std::to_string(duration / unit_of(name)) + name;
    }
  }
  return std::to_string(duration.count()) + "s";
}

}  // namespace

std::chrono::seconds duration(const Found& found, std::chrono::seconds least,
                              std::chrono::seconds most) {
  std::int64_t number = 0;
  const char* end = found.value.data() + found.value.size();
  const auto [stop, error] = std::from_chars(found.value.data(), end, number);
  const auto unit = unit_of({stop, end});
  if (error != std::errc{} || unit.count() == 0 || number < 0 || number > most / unit ||
      number * unit < least) {
    throw UsageError(
        fmt::format("{}: '{}' is not a duration from {} to {}; examples are 90s, 30m, 24h and 7d",
                    found.origin, found.value, duration_text(least), duration_text(most)));
  }
  return number * unit;
}

}  // namespace skua::cli
