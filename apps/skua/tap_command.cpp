#include <optional>

#include <CLI/CLI.hpp>

#include "command_list.hpp"
#include "commands.hpp"
#include "settings.hpp"
#include "shared_arguments.hpp"

namespace skua::cli {
namespace {

/// `skua tap` and its subcommands, on the command line.
class TapCommand final : public Command {
 public:
  explicit TapCommand(CLI::App& app);
  std::optional<int> run(const Settings& settings) const override;

 private:
  CLI::App* add(const char* name, const char* what);
  /// The same for a subcommand that takes accounts.
  CLI::App* add_for_accounts(const char* name, const char* what);

  TapFlags flags_;
  CLI::App* tap_;
  CLI::App* add_;
  CLI::App* remove_;
  CLI::App* info_;
  CLI::App* stats_;
};

TapCommand::TapCommand(CLI::App& app)
    : tap_(app.add_subcommand("tap", "Administer a Tap: its accounts and its state")),
      add_(
          add_for_accounts("add", "Tell Tap to follow accounts, including their existing records")),
      remove_(add_for_accounts("remove", "Tell Tap to stop following accounts")),
      info_(add_for_accounts("info", "Print Tap's state of accounts")),
      stats_(add("stats", "Print Tap's metrics")) {
  tap_->require_subcommand(1);
  tap_->footer(
      "Examples:\n  skua tap add --tap ws://localhost:2480 bsky.app\n"
      "  skua tap stats --tap ws://localhost:2480");
  add_->footer(
      "The command sends a thousand accounts per request. Stored rows stay when you remove an "
      "account.\n\nExample:\n  skua tap add --tap ws://localhost:2480 bsky.app\n  skua tap add "
      "--tap ws://localhost:2480 --file dids.txt");
  remove_->footer("Example:\n  skua tap remove --tap ws://localhost:2480 bsky.app");
  add_json_flag(info_, flags_.json);
  info_->footer("Example:\n  skua tap info --tap ws://localhost:2480 bsky.app");
  add_json_flag(stats_, flags_.json);
  stats_->footer("Example:\n  skua tap stats --tap ws://localhost:2480");
}

CLI::App* TapCommand::add(const char* name, const char* what) {
  CLI::App* command = tap_->add_subcommand(name, what);
  add_tap_options(command, flags_.tap, flags_.tap_password_file);
  return command;
}

CLI::App* TapCommand::add_for_accounts(const char* name, const char* what) {
  CLI::App* command = add(name, what);
  command->add_option("WHO", flags_.who, kAccountForms);
  command->add_option("--file", flags_.files, "Files of accounts, one per line")->type_name("FILE");
  add_dns_option(command, flags_.verification.dns);
  add_account_options(command, flags_.verification);
  return command;
}

std::optional<int> TapCommand::run(const Settings& settings) const {
  if (*add_) return tap_change(settings, flags_, TapChange::Add);
  if (*remove_) return tap_change(settings, flags_, TapChange::Remove);
  if (*info_) return tap_info(settings, flags_);
  if (*stats_) return tap_stats(settings, flags_);
  return std::nullopt;
}

}  // namespace

std::unique_ptr<Command> make_tap_command(CLI::App& app) {
  return std::make_unique<TapCommand>(app);
}

}  // namespace skua::cli
