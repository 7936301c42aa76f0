#include "completion_arguments.hpp"

#include <fmt/format.h>

#include "command_line/completion.hpp"

namespace skua::cli {

CompletionArguments::CompletionArguments(CLI::App& app)
    : completion_(app.add_subcommand("completion", "Print a shell's completion file")) {
  completion_->require_subcommand(1);
  completion_->footer("Example:\n  source <(skua completion bash)");
  completion_->add_subcommand("bash", "For bash")
      ->footer(
          "For this shell, and for all later ones (with the package bash-completion):\n\n"
          "Examples:\n  source <(skua completion bash)\n"
          "  skua completion bash > ~/.local/share/bash-completion/completions/skua");
  completion_->add_subcommand("zsh", "For zsh")
      ->footer(
          "For this shell, and for all later ones (a folder of $fpath):\n\n"
          "Examples:\n  source <(skua completion zsh)\n"
          "  skua completion zsh > \"${fpath[1]}/_skua\"");
  completion_->add_subcommand("fish", "For fish")
      ->footer(
          "For this shell, and for all later ones:\n\n"
          "Examples:\n  skua completion fish | source\n"
          "  skua completion fish > ~/.config/fish/completions/skua.fish");
}

std::optional<int> CompletionArguments::run(const Settings& /*settings*/) const {
  if (!*completion_) return std::nullopt;
  const std::string shell = completion_->get_subcommands().front()->get_name();
  fmt::print("{}", command_line::completion_script(shell, "skua").value());
  return 0;
}

}  // namespace skua::cli
