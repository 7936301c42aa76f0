#include <optional>

#include <CLI/CLI.hpp>

#include "command_list.hpp"
#include "commands.hpp"
#include "setting_option.hpp"
#include "shared_arguments.hpp"

namespace skua::cli {
namespace {

/// `skua serve`.
class ServeCommand final : public Command {
 public:
  explicit ServeCommand(CLI::App& app);
  std::optional<int> run(const Settings& settings) const override;

 private:
  CLI::App* serve_;
  ServeFlags flags_;
};

ServeCommand::ServeCommand(CLI::App& app)
    : serve_(app.add_subcommand("serve", "Stream the changes of the database to other programs")) {
  add_setting(serve_, kListen, flags_.listen);
  add_setting(serve_, kHttpHost, flags_.http_hosts);
  add_setting(serve_, kMaxClients, flags_.max_clients);
  add_setting(serve_, kMaxClientsPerAddress, flags_.max_clients_per_address);
  add_setting(serve_, kWebhookTimeout, flags_.webhook_timeout);
  add_setting(serve_, kCaFile, flags_.ca_file);
  add_setting(serve_, kAdminTokenFile, flags_.admin_token_file);
  add_database_option(serve_, flags_.database);
  serve_->footer(
      "It streams the change log that `skua run` and `skua backfill` write, with the records: "
      "/changes as server-sent\nevents or by a websocket, /subscribe in the form of a Jetstream. "
      "It "
      "sends changes to webhooks and answers pull\nconsumers (`skua consumers add`). "
      "/health/ready,\n/health/live, "
      "/metrics and /status show its own state. docs/feeds.md describes all. It runs beside `skua "
      "run`. The role skua_reader\nmay run it "
      "too: then without webhooks and pull consumers.\n\nExamples:\n  skua serve --database "
      "postgresql://localhost/skua\n"
      "  curl -N 'http://127.0.0.1:2470/changes?cursor=oldest&collection=app.bsky.feed.post'");
}

std::optional<int> ServeCommand::run(const Settings& settings) const {
  if (!*serve_) return std::nullopt;
  return serve(settings, flags_);
}

}  // namespace

std::unique_ptr<Command> make_serve_command(CLI::App& app) {
  return std::make_unique<ServeCommand>(app);
}

}  // namespace skua::cli
