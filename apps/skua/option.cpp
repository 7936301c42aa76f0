#include "option.hpp"

#include <cerrno>
#include <charconv>
#include <string_view>
#include <system_error>
#include <unistd.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.hpp"

namespace skua::cli {
namespace {

/// Returns the duration of a unit; zero if the unit is unknown.
std::chrono::seconds unit_of(std::string_view name) {
  if (name == "s") return std::chrono::seconds(1);
  if (name == "m") return std::chrono::minutes(1);
  if (name == "h") return std::chrono::hours(1);
  return name == "d" ? std::chrono::days(1) : std::chrono::seconds(0);
}

/// Returns a text with the largest unit that leaves no remainder.
std::string limit_text(std::chrono::seconds duration) {
  for (const char* name : {"d", "h", "m"}) {
    if (duration % unit_of(name) == std::chrono::seconds(0)) {
      return std::to_string(duration / unit_of(name)) + name;
    }
  }
  return std::to_string(duration.count()) + "s";
}

}  // namespace

// The list is a static variable of a function, because settings may be constructed before the
// variables of this file.
std::vector<const OptionText*>& all_settings() {
  static std::vector<const OptionText*> all;
  return all;
}

std::string flag_of_key(const std::string& key) {
  std::string flag = "--" + key;
  for (char& c : flag) c = c == '_' ? '-' : c;
  return flag;
}

std::string variable_of_key(const std::string& key) {
  std::string variable = "SKUA_" + key;
  for (char& c : variable) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return variable;
}

bool read_bool(const SettingValue& given) {
  if (given.value == "false" || given.value == "0") return false;
  if (given.value == "true" || given.value == "1") return true;
  throw UsageError(fmt::format("{}: '{}' is neither true nor false", given.origin, given.value));
}

std::int64_t whole_number(const SettingValue& given, std::int64_t least, std::int64_t most) {
  std::int64_t number = 0;
  const char* end = given.value.data() + given.value.size();
  const auto [stop, error] = std::from_chars(given.value.data(), end, number);
  if (error != std::errc{} || stop != end || number < least || number > most) {
    throw UsageError(fmt::format("{}: '{}' is not a whole number from {} to {}", given.origin,
                                 given.value, least, most));
  }
  return number;
}

std::chrono::seconds duration(const SettingValue& given, std::chrono::seconds least,
                              std::chrono::seconds most) {
  std::int64_t number = 0;
  const char* end = given.value.data() + given.value.size();
  const auto [stop, error] = std::from_chars(given.value.data(), end, number);
  const auto unit = unit_of({stop, end});
  if (error != std::errc{} || unit.count() == 0 || number < 0 || number > most / unit ||
      number * unit < least) {
    throw UsageError(
        fmt::format("{}: '{}' is not a duration from {} to {}; examples are 90s, 30m, 24h and 7d",
                    given.origin, given.value, limit_text(least), limit_text(most)));
  }
  return number * unit;
}

std::chrono::seconds retention_time(const SettingValue& given) {
  return duration(given, std::chrono::hours(1), std::chrono::seconds(3'155'760'000));
}

void require_file(const std::string& origin, const std::filesystem::path& file) {
  std::error_code error;
  if (std::filesystem::is_directory(file, error)) {
    error = std::make_error_code(std::errc::is_a_directory);
  } else if (::access(file.c_str(), R_OK) != 0) {
    error = std::error_code(errno, std::generic_category());
  } else {
    return;
  }
  throw UsageError(
      fmt::format("{}: '{}' cannot be read: {}", origin, file.string(), error.message()));
}

void refuse_word(const SettingValue& given, const std::vector<std::string>& words) {
  const std::string expected = words.size() == 2
                                   ? fmt::format("neither {} nor {}", words[0], words[1])
                                   : fmt::format("not one of {}", fmt::join(words, ", "));
  throw UsageError(fmt::format("{}: '{}' is {}", given.origin, given.value, expected));
}

}  // namespace skua::cli
