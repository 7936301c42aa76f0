#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace skua::cli {

/// Invalid input of the user. The exit code is 2.
class UsageError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A value as the user wrote it, and its origin for error messages: `--relay`, `SKUA_RELAY`,
/// `skua.toml: relay`.
struct SettingValue {
  std::string value;
  std::string origin;
};

/// An option of commands: a flag, an argument, or a setting. The type of its value tells shells the
/// completions: FILE and FOLDER are paths, and words in lower case are values.
struct OptionText {
  /// The name, such as "--relay". "WHO" is an argument, which has no flag.
  std::string name;
  /// The type of the value as --help shows it. Empty if the option is boolean or an argument.
  std::string type = {};
  std::string meaning = {};
  /// The value that applies if none is given. --help shows it.
  std::string default_value = {};
  /// A description of the behaviour without a value, if `default_value` cannot state it.
  std::string default_text = {};
  /// The name in the file of --config. A Setting derives it from the flag.
  std::string key = {};
  /// The variable of the environment. A Setting derives it from the key.
  std::string environment = {};
  /// A former key, which still works, as do the flag and the variable that follow from it.
  std::string former_key = {};
  /// True if one flag takes several values, because a shell may expand a pattern into several
  /// words.
  bool takes_several = false;
  /// The values of an argument that shells complete, with their meanings.
  std::function<std::vector<std::pair<std::string, std::string>>()> known_values = nullptr;

  enum class Form : std::uint8_t { Flag, Single, List };
  /// The form, which the constructor of Option sets.
  Form form = Form::Single;

  /// Returns the default for people; empty if there is none.
  const std::string& default_for_people() const {
    return default_value.empty() ? default_text : default_value;
  }
  bool is_boolean() const { return form == Form::Flag; }
};

/// The functions derive the flag and the variable from a key: "--stats-interval",
/// "SKUA_STATS_INTERVAL".
std::string flag_of_key(const std::string& key);
std::string variable_of_key(const std::string& key);

// The following functions read values of common forms. All throw UsageError, which names the
// origin.

/// Reads a boolean: true or 1, false or 0.
bool read_bool(const SettingValue& given);

/// Reads a whole number in a range.
std::int64_t whole_number(const SettingValue& given, std::int64_t least, std::int64_t most);

/// Reads a duration such as 90s, 30m, 24h or 7d in a range.
std::chrono::seconds duration(const SettingValue& given, std::chrono::seconds least,
                              std::chrono::seconds most);

/// Reads how long records are kept.
std::chrono::seconds retention_time(const SettingValue& given);

/// Checks that a file exists and can be read. A pipe is accepted, a folder is refused. Reads
/// nothing.
void require_file(const std::string& origin, const std::filesystem::path& file);

/// Throws the error for a value that is none of these words.
[[noreturn]] void refuse_word(const SettingValue& given, const std::vector<std::string>& words);

namespace detail {
template <class T>
struct ElementOf {
  using Type = T;
};
template <class T>
struct ElementOf<std::vector<T>> {
  using Type = T;
};
template <class T>
constexpr bool is_list = !std::is_same_v<typename ElementOf<T>::Type, T>;

/// Reads booleans and texts.
template <class T>
T read_plain(const SettingValue& given) {
  if constexpr (std::is_same_v<T, bool>) {
    return read_bool(given);
  } else if constexpr (std::is_constructible_v<T, const SettingValue&>) {
    return given;
  } else {
    return given.value;
  }
}
}  // namespace detail

/// An option whose value has the type T. A bool is a flag, and a std::vector can be repeated.
/// Without a value, the option has its default or, without one, T().
template <class T>
struct Option : OptionText {
  using Read = std::function<typename detail::ElementOf<T>::Type(const SettingValue&)>;

  /// `reader` parses one value and throws UsageError.
  explicit Option(OptionText text, Read reader = detail::read_plain<typename Read::result_type>)
      : OptionText(std::move(text)), read(std::move(reader)) {
    form = std::is_same_v<T, bool> ? Form::Flag : detail::is_list<T> ? Form::List : Form::Single;
  }
  Option(const Option&) = delete;
  Option& operator=(const Option&) = delete;

  Read read;
};

/// All settings, in the order of their declarations.
std::vector<const OptionText*>& all_settings();

/// An option that is also a variable and a key of the file of --config. Each setting is declared
/// once, in settings.hpp.
template <class T>
struct Setting : Option<T> {
  explicit Setting(OptionText text, typename Option<T>::Read reader =
                                        detail::read_plain<typename Option<T>::Read::result_type>)
      : Option<T>(with_names(std::move(text)), std::move(reader)) {
    all_settings().push_back(this);
  }

 private:
  static OptionText with_names(OptionText text) {
    if (text.key.empty()) {
      text.key = text.name.substr(2);
      for (char& c : text.key) c = c == '-' ? '_' : c;
    }
    text.environment = variable_of_key(text.key);
    return text;
  }
};

/// Reads a whole number in a range.
template <class Number = std::size_t>
auto number_in(std::int64_t least, std::int64_t most) {
  return [=](const SettingValue& given) {
    return static_cast<Number>(whole_number(given, least, most));
  };
}

/// Reads a whole number of seconds.
inline auto seconds_in(std::int64_t least, std::int64_t most) {
  return [=](const SettingValue& given) {
    return std::chrono::seconds(whole_number(given, least, most));
  };
}

/// Reads a duration in a range.
inline auto duration_in(std::chrono::seconds least, std::chrono::seconds most) {
  return [=](const SettingValue& given) { return duration(given, least, most); };
}

/// Reads one of some words.
template <class T>
auto one_of(std::initializer_list<std::pair<const char*, T>> words) {
  return [all = std::vector<std::pair<const char*, T>>(words)](const SettingValue& given) -> T {
    std::vector<std::string> names;
    for (const auto& [word, value] : all) {
      if (given.value == word) return value;
      names.emplace_back(word);
    }
    refuse_word(given, names);
  };
}

}  // namespace skua::cli
