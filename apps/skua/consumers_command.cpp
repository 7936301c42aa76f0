#include <optional>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "change_feed/change_filter.hpp"
#include "command_line/help_text.hpp"
#include "command_list.hpp"
#include "consumers.hpp"
#include "feed/consumers/tuning.hpp"
#include "settings.hpp"
#include "shared_arguments.hpp"

namespace skua::cli {
namespace {

/// `skua consumers` and its subcommands, on the command line.
class ConsumersCommand final : public Command {
 public:
  explicit ConsumersCommand(CLI::App& app);
  std::optional<int> run(const Settings& settings) const override;

 private:
  CLI::App* add(const char* name, const char* what);
  CLI::App* add_with_name(const char* name, const char* what);
  void add_from_option(CLI::App* command, const char* otherwise);

  ConsumersFlags flags_;
  CLI::App* consumers_;
  CLI::App* list_;
  CLI::App* status_;
  CLI::App* add_;
  CLI::App* remove_;
  CLI::App* pause_;
  CLI::App* resume_;
  CLI::App* rebuild_;
  CLI::App* reset_;
  CLI::App* wait_;
  CLI::App* verify_;
  CLI::App* run_once_;
  CLI::App* run_until_idle_;
};

std::string profile_names() {
  std::string names;
  for (const feed::Tuning& tuning : feed::tuning_profiles()) {
    names += (names.empty() ? "" : "|") + std::string(tuning.profile);
  }
  return names;
}

ConsumersCommand::ConsumersCommand(CLI::App& app)
    : consumers_(app.add_subcommand("consumers",
                                    "Manage what follows the change log: counts, notifications, "
                                    "trends, webhooks, pull consumers")),
      list_(add("list", "List the consumers, their state and how far behind they are")),
      status_(add_with_name("status", "Print all values of a consumer, and its lanes")),
      add_(add_with_name("add", "Add a projection, a webhook or a pull consumer")),
      remove_(add_with_name("remove", "Remove a consumer and its tables")),
      pause_(add_with_name("pause", "Let a consumer read no more changes")),
      resume_(add_with_name("resume", "Continue a paused consumer")),
      rebuild_(add_with_name("rebuild", "Build the tables of a projection again")),
      reset_(add_with_name("reset", "Continue a consumer that stopped at a failed change")),
      wait_(add_with_name("wait", "Wait until a consumer has read the changes up to now")),
      verify_(add_with_name("verify", "Compare a projection with the records")),
      run_once_(add("run-once", "Do one step: build, exchange, or apply one batch of changes")),
      run_until_idle_(add("run-until-idle", "Build projections and apply all changes")) {
  consumers_->require_subcommand(1);
  consumers_->footer(
      "Projections are post_stats, actor_stats, notifications, post_rules and tag_trends. `skua "
      "run` builds them and keeps them up to date. `skua serve` sends changes to webhooks and "
      "answers pull consumers.\n\nExamples:\n  skua consumers add post_stats\n  skua "
      "consumers list");
  add_json_flag(list_, flags_.json);
  list_->footer("Example:\n  skua consumers list --database postgresql://localhost/skua");
  add_json_flag(status_, flags_.json);
  status_->footer("Example:\n  skua consumers status post_stats");
  add_->add_option("--lanes", flags_.lanes,
                   "Parts that are applied at the same time: a power of two up to 64")
      ->type_name("NUMBER")
      ->check(CLI::Range(1, 64).description(""));
  add_->add_option("--policy", flags_.policy,
                   "After a change has failed too often: pause the consumer, block its lane, skip "
                   "the change "
                   "(a dead letter), or block its account (webhook, pull)")
      ->type_name("pause|block_lane|skip|block_key")
      ->check(CLI::IsMember({"pause", "block_lane", "skip", "block_key"}).description(""))
      ->default_str("pause");
  add_->add_option("--profile", flags_.profile, "Size and frequency of batches")
      ->type_name(profile_names())
      ->default_str("default");
  add_->add_option("--set", flags_.overrides,
                   "Replaces a value of the profile: batch, pause_ms, max_attempts, retry_ms, "
                   "max_retry_ms")
      ->type_name("KEY=NUMBER")
      ->allow_extra_args(false);
  add_->add_flag("--pull", flags_.is_pull,
                 "Add a pull consumer: a program that fetches changes from `skua serve`");
  add_->add_option("--webhook", flags_.webhook, "Add a webhook: `skua serve` sends changes to it")
      ->type_name("URL");
  add_from_option(add_, "live");
  const auto add_filter = [this](const char* name, std::vector<std::string>& values,
                                 const char* what, const std::string& type) {
    add_->add_option(name, values, what)->type_name(type)->allow_extra_args(false);
  };
  add_filter("--collection", flags_.collections,
             "Webhook, pull: records of this collection, such as app.bsky.feed.*; repeatable",
             "NSID");
  add_filter("--did", flags_.dids, "Webhook, pull: changes of this account; repeatable", "DID");
  add_filter("--op", flags_.ops, "Webhook, pull: changes of this operation; repeatable",
             fmt::format("{}", fmt::join(change_feed::known_operations(), "|")));
  add_filter("--kind", flags_.kinds, "Webhook, pull: changes of this kind; repeatable",
             fmt::format("{}", fmt::join(change_feed::known_kinds(), "|")));
  add_->footer(
      "The tables of a projection are built from the records, which may take hours in a large "
      "database, and then follow the change log. docs/feeds.md describes webhooks and pull "
      "consumers.\n\nExamples:\n  skua consumers add notifications\n  skua consumers "
      "add post_stats --lanes 4 --profile low_latency --set batch=5000\n  skua consumers add "
      "search "
      "--webhook https://search.example/skua --collection app.bsky.feed.post --lanes 4\n  skua "
      "consumers add archive --pull --from oldest --policy block_key");
  remove_->footer("Example:\n  skua consumers remove tag_trends");
  pause_->footer(
      "Its tables stay readable. Changes are kept for it, up to the maximum size of the "
      "log.\n\nExample:\n  skua consumers pause notifications");
  resume_->footer("Example:\n  skua consumers resume notifications");
  rebuild_->footer(
      "Readers see the present tables until the new ones are complete.\n\nExample:\n  skua "
      "consumers rebuild post_stats");
  reset_->add_flag("--skip", flags_.skip,
                   "Continue after the failed change, which becomes a dead letter");
  add_from_option(reset_, "the change that failed");
  reset_->footer(
      "With --from a webhook or pull consumer continues at another position, for example after "
      "the log dropped changes that it had not read.\n\nExamples:\n  skua consumers reset "
      "post_stats\n  skua consumers reset archive --from live");
  wait_->add_option("--position", flags_.position, "A position of the change log")
      ->type_name("NUMBER")
      ->default_str("the present end");
  wait_->add_option("--timeout", flags_.timeout, "The maximum time")
      ->type_name("DURATION")
      ->default_str("30s");
  wait_->footer(
      "After it, the tables contain everything that was committed before the "
      "command.\n\nExample:\n  skua consumers wait post_stats --timeout 10s");
  command_line::explain_exit_codes(*wait_, "the consumer has reached the position",
                                   "it has not in time, it has stopped, or it does not exist");
  verify_->add_option("--rows", flags_.rows, "Compare this number of rows, chosen at random")
      ->type_name("NUMBER")
      ->default_str("all")
      ->check(CLI::Range(1, 1'000'000).description(""));
  verify_->footer(
      "The command prints at most ten differences.\n\nExample:\n  skua "
      "consumers verify post_stats --rows 1000");
  command_line::explain_exit_codes(*verify_, "the tables are equal to the records",
                                   "they differ, or the projection is not built");
  for (CLI::App* command : {run_once_, run_until_idle_}) {
    command->add_option("NAME", flags_.name, "Apply changes to this consumer only");
  }
  run_once_->footer("Example:\n  skua consumers run-once post_stats");
  run_until_idle_->footer(
      "For a database that no `skua run` writes to, such as after `skua replay`.\n\nExample:\n  "
      "skua consumers run-until-idle --database postgresql://localhost/skua");
}

CLI::App* ConsumersCommand::add(const char* name, const char* what) {
  CLI::App* command = consumers_->add_subcommand(name, what);
  add_database_option(command, flags_.database);
  return command;
}

CLI::App* ConsumersCommand::add_with_name(const char* name, const char* what) {
  CLI::App* command = add(name, what);
  command->add_option("NAME", flags_.name, "The name of a consumer, see `skua consumers list`")
      ->required();
  return command;
}

void ConsumersCommand::add_from_option(CLI::App* command, const char* otherwise) {
  command
      ->add_option("--from", flags_.from,
                   "Webhook, pull: the first change, live, oldest or a position")
      ->type_name("live|oldest|NUMBER")
      ->default_str(otherwise);
}

std::optional<int> ConsumersCommand::run(const Settings& settings) const {
  if (*list_) return consumers_list(settings, flags_);
  if (*status_) return consumers_status(settings, flags_);
  if (*add_ && (flags_.is_pull || flags_.webhook)) return consumers_add_leased(settings, flags_);
  if (*add_) return consumers_add(settings, flags_);
  if (*remove_) return consumers_remove(settings, flags_);
  if (*pause_) return consumers_pause(settings, flags_, true);
  if (*resume_) return consumers_pause(settings, flags_, false);
  if (*rebuild_) return consumers_rebuild(settings, flags_);
  if (*reset_ && flags_.from) return consumers_move(settings, flags_);
  if (*reset_) return consumers_reset(settings, flags_);
  if (*wait_) return consumers_wait(settings, flags_);
  if (*verify_) return consumers_verify(settings, flags_);
  if (*run_once_) return consumers_run(settings, flags_, false);
  if (*run_until_idle_) return consumers_run(settings, flags_, true);
  return std::nullopt;
}

}  // namespace

std::unique_ptr<Command> make_consumers_command(CLI::App& app) {
  return std::make_unique<ConsumersCommand>(app);
}

}  // namespace skua::cli
