#include <optional>

#include <CLI/CLI.hpp>

#include "account_choice.hpp"
#include "command_line/help_text.hpp"
#include "command_list.hpp"
#include "init.hpp"
#include "setting_option.hpp"
#include "shared_arguments.hpp"

namespace skua::cli {
namespace {

/// `skua init`.
class InitCommand final : public Command {
 public:
  explicit InitCommand(CLI::App& app);
  std::optional<int> run(const Settings& settings) const override;
  bool writes_config() const override { return init_->parsed(); }

 private:
  CLI::Option* add_list(const char* name, std::vector<std::string>& values, const char* type,
                        const std::string& what);

  CLI::App* init_;
  InitFlags flags_;
};

InitCommand::InitCommand(CLI::App& app)
    : init_(app.add_subcommand(
          "init", "Write a file of settings and prepare the database for a first `skua run`")) {
  init_->add_option("--config", flags_.config, "The file to write (SKUA_CONFIG; default skua.toml)")
      ->type_name("FILE");
  init_
      ->add_option("--use", flags_.use,
                   "What is stored: accounts with their history, collections of all accounts, or "
                   "the whole network")
      ->type_name("accounts|collections|network");
  add_list("--account", flags_.accounts, "WHO", std::string("An account: ") + kAccountForms);
  add_list("--collection", flags_.collections, "NSID",
           "A collection, or a prefix such as app.bsky.graph.*; also limits the records of "
           "accounts");
  add_database_option(init_, flags_.database);
  add_setting(init_, kRelay, flags_.relays, {.otherwise = kDefaultRelay});
  add_list("--projection", flags_.projections, "NAME",
           "A projection to add, as `skua consumers add` does");
  add_list("--retention", flags_.retention, "COLLECTION=DURATION",
           "Keep records of a collection for a time only, as `skua retention set` does");
  add_account_options(init_, flags_.verification);
  add_dns_option(init_, flags_.verification.dns);
  init_->add_flag("--yes", flags_.yes, "Ask no questions, also on a terminal");
  init_->add_flag("--force", flags_.force, "Replace the file if it exists, and keep a copy");
  init_->footer(
      "On a terminal the command asks for everything that the options leave open. It changes "
      "nothing before the last answer. It\ncreates the database if it is missing and the role may "
      "do so, writes the file, applies the migrations, stores the filter,\nadds projections and "
      "retention, queues the download of the accounts, and ends with `skua doctor`. A second run "
      "with\n--force replaces file and filter, and adds what is new. --account and --collection "
      "imply the use.\n\nExamples:\n  skua init\n  skua init --account bsky.app --database "
      "postgresql:///skua --projection post_stats\n  skua init --collection 'app.bsky.graph.*' "
      "--database postgresql:///skua\n  skua init --use network --database postgresql:///skua "
      "--retention app.bsky.feed.like=90d");
  command_line::explain_exit_codes(*init_, "the file is written and `skua doctor` finds no error",
                                   "a step failed, or `skua doctor` finds an error");
}

CLI::Option* InitCommand::add_list(const char* name, std::vector<std::string>& values,
                                   const char* type, const std::string& what) {
  return init_->add_option(name, values, what + "; may be repeated")
      ->type_name(type)
      ->allow_extra_args(false);
}

std::optional<int> InitCommand::run(const Settings& settings) const {
  if (!*init_) return std::nullopt;
  return init(settings, flags_);
}

}  // namespace

std::unique_ptr<Command> make_init_command(CLI::App& app) {
  return std::make_unique<InitCommand>(app);
}

}  // namespace skua::cli
