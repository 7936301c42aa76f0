#include <optional>

#include <CLI/CLI.hpp>

#include "command_line/help_text.hpp"
#include "command_list.hpp"
#include "commands.hpp"
#include "setting_option.hpp"
#include "shared_arguments.hpp"

namespace skua::cli {
namespace {

/// `skua run`.
class RunCommand final : public Command {
 public:
  explicit RunCommand(CLI::App& app);
  std::optional<int> run(const Settings& settings) const override;

 private:
  CLI::App* run_;
  RunFlags flags_;
};

RunCommand::RunCommand(CLI::App& app)
    : run_(app.add_subcommand("run", "Index live sources until stopped")) {
  add_source_options(run_, flags_.source);
  add_verify_option(run_, flags_.verification);
  add_setting(run_, kResync, flags_.verification.resync);
  add_setting(run_, kAuditEvery, flags_.audit_every);
  add_handles_option(run_, flags_.verification, "checked");
  add_dns_option(run_, flags_.verification.dns);
  add_account_options(run_, flags_.verification);
  add_setting(run_, kPlcTail, flags_.plc_tail);
  add_database_option(run_, flags_.database);
  add_unsafe_database_flag(run_, flags_.allow_unsafe_database);
  add_tuning_options(run_, flags_.decode_threads, flags_.stats_interval);
  add_setting(run_, kConsumerThreads, flags_.consumer_threads);
  add_setting(run_, kHttp, flags_.pages.http);
  add_setting(run_, kHttpHost, flags_.pages.http_hosts);
  add_setting(run_, kBehindAfter, flags_.pages.behind_after);
  add_setting(run_, kQuietAfter, flags_.pages.quiet_after);
  add_setting(run_, kAdminTokenFile, flags_.pages.admin_token_file);
  add_backfill_of_run(run_, flags_.backfill);
  run_->footer(
      "The command also processes the queue of `skua backfill`. If it misses a commit of a "
      "complete repository, it downloads the\nrepository again. Signing keys come from DID "
      "documents. The command fetches the document of an account with the first event\nof the "
      "account. `skua identity import` loads most documents in advance, and `--plc-tail` keeps "
      "them "
      "current. `--http` names the address\nof the pages /health/ready, /health/live, /metrics and "
      "/status.\n\nExamples:\n  "
      "skua run --relay wss://relay1.us-east.bsky.network --database postgresql://localhost/skua\n "
      " skua run --relay wss://relay1.us-east.bsky.network --collection 'app.bsky.graph.*' "
      "--filter-file more.txt\n  skua run --relay wss://relay1.us-east.bsky.network --relay "
      "wss://relay1.us-west.bsky.network --database postgresql://localhost/skua\n  skua run --tap "
      "ws://localhost:2480 --tap-password-file tap.password --database "
      "postgresql://localhost/skua\n  skua run --relay wss://relay1.us-east.bsky.network --labeler "
      "wss://mod.bsky.app --database postgresql://localhost/skua\n  skua run --relay "
      "wss://relay1.us-east.bsky.network --discover-labelers --database "
      "postgresql://localhost/skua\n  skua run --relay wss://relay1.us-east.bsky.network "
      "--signal-collection app.bsky.feed.generator --database postgresql://localhost/skua");
  command_line::explain_exit_codes(
      *run_, "it was stopped, and all events that it has read are committed",
      "it cannot continue, or some events are not committed: the next start reads them again");
}

std::optional<int> RunCommand::run(const Settings& settings) const {
  if (!*run_) return std::nullopt;
  return cli::run(settings, flags_);
}

}  // namespace

std::unique_ptr<Command> make_run_command(CLI::App& app) {
  return std::make_unique<RunCommand>(app);
}

}  // namespace skua::cli
