#include "command_line/help_text.hpp"

#include <algorithm>
#include <string>

#include <fmt/format.h>

namespace skua::command_line {

void hide_argument_types(CLI::App& root) {
  for (CLI::Option* option : root.get_options()) {
    if (option->get_positional()) option->type_name("");
  }
  for (CLI::App* command : root.get_subcommands([](CLI::App*) { return true; })) {
    hide_argument_types(*command);
  }
}

void explain_exit_codes(CLI::App& command, std::string_view success, std::string_view failure) {
  std::string footer = command.get_footer();
  footer.insert(std::min(footer.find("Example"), footer.size()),
                fmt::format("Exit codes:\n  0  {}\n  1  {}\n  2  the command line or a setting is "
                            "wrong\n\n",
                            success, failure));
  command.footer(footer);
}

}  // namespace skua::command_line
