#include "invocation.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "store/connection_string.hpp"

namespace skua::cli {
namespace {

struct Invocation {
  std::string program = "skua";
  std::optional<std::string> config;
};

Invocation& invocation() {
  static Invocation only;
  return only;
}

bool is_plain(char c) {
  constexpr std::string_view kOthers = "_-./:@%+,=";
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         kOthers.find(c) != kOthers.npos;
}

}  // namespace

void set_invocation(std::string program, std::optional<std::string> config) {
  invocation() = {std::move(program), std::move(config)};
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

std::string command_to_copy(std::string_view words, const std::optional<std::string>& database) {
  std::string text = fmt::format("{} {}", shell_word(invocation().program), words);
  if (invocation().config) text += " --config " + shell_word(*invocation().config);
  if (database) text += " --database " + shell_word(store::without_password(*database));
  return text;
}

}  // namespace skua::cli
