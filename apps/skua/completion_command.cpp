#include <optional>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "command_line/completion.hpp"
#include "command_list.hpp"

namespace skua::cli {
namespace {

/// `skua completion` and its subcommands, one for each shell.
class CompletionCommand final : public Command {
 public:
  explicit CompletionCommand(CLI::App& app);
  std::optional<int> run(const Settings& settings) const override;

 private:
  CLI::App* completion_;
};

CompletionCommand::CompletionCommand(CLI::App& app)
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

std::optional<int> CompletionCommand::run(const Settings& /*settings*/) const {
  if (!*completion_) return std::nullopt;
  const std::string shell = completion_->get_subcommands().front()->get_name();
  fmt::print("{}", command_line::completion_script(shell, "skua").value());
  return 0;
}

}  // namespace

std::unique_ptr<Command> make_completion_command(CLI::App& app) {
  return std::make_unique<CompletionCommand>(app);
}

}  // namespace skua::cli
