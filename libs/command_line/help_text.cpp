#include "command_line/help_text.hpp"

namespace skua::command_line {

void hide_argument_types(CLI::App& root) {
  for (CLI::Option* option : root.get_options()) {
    if (option->get_positional()) option->type_name("");
  }
  for (CLI::App* command : root.get_subcommands([](CLI::App*) { return true; })) {
    hide_argument_types(*command);
  }
}

}  // namespace skua::command_line
