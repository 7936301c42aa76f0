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

/// The keys and values of the file of --config.
class SettingsFile {
 public:
  /// Creates an object without a file and without values.
  SettingsFile() = default;
  /// Reads a file. Throws UsageError if the file cannot be read, is not TOML, or contains an
  /// unknown key. `origin` is the flag or variable that names the file.
  explicit SettingsFile(std::string path, const std::string& origin = "--config");

  std::optional<SettingValue> find(const std::string& key) const;

 private:
  std::string path_;
  std::map<std::string, std::string> values_;
};

/// The values of a command's options. The value of an option comes from the command line, the
/// environment, the file of --config, or the default, in this order. (In CLI11 the file overrides
/// the environment.)
class Invocation {
 public:
  /// The values on the command line by the names of their options. A flag has the value "true".
  using Given = std::map<std::string, std::vector<std::string>>;

  Invocation() = default;
  explicit Invocation(Given given, SettingsFile file = {});

  /// Returns the value of an option. If it is malformed, throws UsageError, which names its origin.
  template <class T>
  T operator[](const Option<T>& option) const;

  /// Returns the text of the value, or nothing if the default applies. For a list, returns the
  /// first text.
  std::optional<SettingValue> find(const OptionText& option) const;
  /// Returns the texts of a list. In a variable and in the file, spaces separate the texts.
  std::vector<SettingValue> find_all(const OptionText& option) const;
  /// Returns the text of the value. If there is none, throws UsageError with the flag and the
  /// setting to use.
  SettingValue require(const OptionText& setting, const std::string& example) const;

  /// Returns the text of the value or, without a value, of the default.
  std::string text_of(const OptionText& option) const {
    const auto given = find(option);
    return given ? given->value : option.default_value;
  }
  bool has(const OptionText& option) const { return find(option).has_value(); }
  /// Returns whether the command line has the option.
  bool is_given(const OptionText& option) const { return given_.contains(option.name); }
  /// Replaces the values of an option, as if the command line had these values. An empty list
  /// removes the option.
  void give(const OptionText& option, std::vector<std::string> values);

  /// Returns the command line `skua WORDS` for copying into a shell, with the program name that the
  /// user typed, and with --config and --database if they are given. A password becomes `***`.
  std::string command_to_copy(std::string_view words) const;

  /// The name with which the user started this program.
  std::string program = "skua";
  /// All commands, for `skua help`. Null if the invocation does not come from the command line.
  const CLI::App* commands = nullptr;

 private:
  Given given_;
  SettingsFile file_;
};

/// Returns a word as a shell must read it: in quotes if it has characters that names do not have.
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
