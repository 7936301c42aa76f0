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

/// Invalid input of the user: exit code 2.
class UsageError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A value as the user wrote it, and where it was found, for error messages: `--relay`,
/// `SKUA_RELAY`, `skua.toml: relay`.
struct SettingValue {
  std::string value;
  std::string origin;
};

/// An option of commands: a flag, an argument, or a setting. The type of its value tells shells
/// what to complete: FILE and FOLDER are paths, words in lower case are values.
struct OptionText {
  /// "--relay"; "WHO" is an argument, which has no flag.
  std::string name;
  /// Of its value, as --help shows it. Empty: it is boolean, or an argument.
  std::string type = {};
  std::string meaning = {};
  /// The value if none is given, which --help shows.
  std::string default_value = {};
  /// Describes the value if none is given, where `default_value` cannot state it.
  std::string default_text = {};
  /// Its name in the file of --config. A Setting derives it from the flag.
  std::string key = {};
  /// The variable that has its value. A Setting derives it from the key.
  std::string environment = {};
  /// A former key, which still works with the flag and the variable that follow from it.
  std::string former_key = {};
  /// One flag takes several values: a shell expands a pattern into them.
  bool takes_several = false;
  /// Of an argument: the values that shells complete, with their meanings.
  std::function<std::vector<std::pair<std::string, std::string>>()> known_values = nullptr;

  enum class Form : std::uint8_t { Flag, Single, List };
  /// Set by Option.
  Form form = Form::Single;

  /// The default for people; empty: none.
  const std::string& default_for_people() const {
    return default_value.empty() ? default_text : default_value;
  }
  bool is_boolean() const { return form == Form::Flag; }
};

/// The flag and the variable of a key: "--stats-interval", "SKUA_STATS_INTERVAL".
std::string flag_of_key(const std::string& key);
std::string variable_of_key(const std::string& key);

// The forms of values. All throw UsageError, which names the origin.

/// true or 1, false or 0.
bool read_bool(const SettingValue& given);

/// A whole number in a range.
std::int64_t whole_number(const SettingValue& given, std::int64_t least, std::int64_t most);

/// A duration such as 90s, 30m, 24h or 7d in a range.
std::chrono::seconds duration(const SettingValue& given, std::chrono::seconds least,
                              std::chrono::seconds most);

/// How long records are kept.
std::chrono::seconds retention_time(const SettingValue& given);

/// Accepts a file that exists and can be read. A pipe is accepted, a folder is not. Reads nothing.
void require_file(const std::string& origin, const std::filesystem::path& file);

/// The error for a value that is not one of these words.
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

/// An option whose value has the type T: bool is a flag, and a std::vector may be repeated. Without
/// a value it is the default, otherwise T().
template <class T>
struct Option : OptionText {
  using Read = std::function<typename detail::ElementOf<T>::Type(const SettingValue&)>;

  /// `reader` parses one value; it throws UsageError.
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

/// An option that is also a variable and a key of the file of --config. Declare it once, in
/// settings.hpp.
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
