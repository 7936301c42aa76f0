#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "option.hpp"

namespace CLI {  // NOLINT(readability-identifier-naming)
class App;
}

namespace skua::cli {

/// The file of --config: its keys and their values.
class SettingsFile {
 public:
  /// No file.
  SettingsFile() = default;
  /// Throws UsageError if it cannot be read, is not TOML, or contains an unknown key. `origin`:
  /// what names the file.
  explicit SettingsFile(std::string path, const std::string& origin = "--config");

  std::optional<SettingValue> find(const std::string& key) const;

 private:
  std::string path_;
  std::map<std::string, std::string> values_;
};

/// What a command is called with: the value of each option, from the command line, the environment,
/// the file of --config, or the default, in this order. (In CLI11 the file overrides the
/// environment.)
class Invocation {
 public:
  /// The values on the command line by the names of their options. A flag has the value "true".
  using Given = std::map<std::string, std::vector<std::string>>;

  Invocation() = default;
  explicit Invocation(Given given, SettingsFile file = {});

  /// The value of an option. Throws UsageError, which names its origin, if it is malformed.
  template <class T>
  T operator[](const Option<T>& option) const;

  /// The text of the value, unless it is the default. Of a list: the first one.
  std::optional<SettingValue> find(const OptionText& option) const;
  /// The texts of a list. In a variable and in the file, spaces separate them.
  std::vector<SettingValue> find_all(const OptionText& option) const;
  /// The same as `find`; throws UsageError with the flag and the setting to use if there is none.
  SettingValue require(const OptionText& setting, const std::string& example) const;

  /// The text of the value, also if it is the default.
  std::string text_of(const OptionText& option) const {
    const auto given = find(option);
    return given ? given->value : option.default_value;
  }
  bool has(const OptionText& option) const { return find(option).has_value(); }
  /// Whether the command line has the option.
  bool is_given(const OptionText& option) const { return given_.contains(option.name); }
  /// Replaces the values of an option, as if the command line had these, or had it not.
  void give(const OptionText& option, std::vector<std::string> values);

  /// The command line `skua WORDS`, to copy into a shell: with the name of the program as the user
  /// typed it, --config, and --database if they are given. A password in it becomes `***`.
  std::string command_to_copy(std::string_view words) const;

  /// How the user started this program.
  std::string program = "skua";
  /// All commands, for `skua help`. Null: the caller is not the command line.
  const CLI::App* commands = nullptr;

 private:
  Given given_;
  SettingsFile file_;
};

/// A word as a shell must read it: in quotes if it has other characters than those of names.
std::string shell_word(std::string_view word);

template <class T>
T Invocation::operator[](const Option<T>& option) const {
  if constexpr (detail::is_list<T>) {
    T all;
    for (const SettingValue& given : find_all(option)) all.push_back(option.read(given));
    return all;
  } else {
    if (const auto given = find(option)) return option.read(*given);
    if (option.default_value.empty()) return T();
    return option.read({option.default_value, option.name});
  }
}

}  // namespace skua::cli
