#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace skua::cli {

/// Sets how the user started this program: the name of the program, and the value of --config.
/// Once, before any command runs.
void set_invocation(std::string program, std::optional<std::string> config);

/// A word as a shell must read it: in quotes if it has other characters than those of names.
std::string shell_word(std::string_view word);

/// The command line `skua WORDS`, to copy into a shell: with the name of the program as the user
/// typed it, --config, and the value of --database if there is one. A password in it becomes `***`.
std::string command_to_copy(std::string_view words, const std::optional<std::string>& database);

}  // namespace skua::cli
