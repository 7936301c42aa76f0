#include <chrono>
#include <cstdint>
#include <cstdio>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "atproto/syntax.hpp"
#include "base/random.hpp"
#include "base/text.hpp"
#include "command_line/finish.hpp"
#include "commands.hpp"
#include "consumers/consumer_replays.hpp"
#include "consumers/consumer_table.hpp"
#include "consumers/fold_step.hpp"
#include "consumers/leases/leased_consumers.hpp"
#include "consumers/messages/message_sequencer.hpp"
#include "consumers/projection_upkeep.hpp"
#include "consumers/tuning.hpp"
#include "database.hpp"
#include "postgres/session.hpp"
#include "settings.hpp"
#include "status/consumer_status.hpp"
#include "streams/change_filter.hpp"
#include "streams/leased/leased_batch.hpp"
#include "streams/leased/pull_server.hpp"
#include "streams/leased/webhook_sender.hpp"
#include "transport/endpoint.hpp"

namespace skua::cli {

namespace {

const Option<std::optional<std::int64_t>> kPosition({.name = "--position",
                                                     .type = "NUMBER",
                                                     .meaning = "A position of the change log",
                                                     .default_text = "the present end"},
                                                    number_in<std::int64_t>(0,
                                                                            std::int64_t{1} << 62));
const Option<std::chrono::seconds> kWaitTimeout({.name = "--timeout",
                                                 .type = "DURATION",
                                                 .meaning = "The maximum time",
                                                 .default_value = "30s"},
                                                duration_in(std::chrono::seconds(1),
                                                            std::chrono::hours(24)));
const Option<std::optional<std::int32_t>> kRows(
    {.name = "--rows",
     .type = "NUMBER",
     .meaning = "Compare this number of rows, chosen at random",
     .default_text = "all"},
    number_in<std::int32_t>(1, 1'000'000));

/// Returns the consumers of this name: during a rebuild the live one and the next one.
std::vector<consumers::Consumer> consumers_named(postgres::Session& session,
                                                 const std::string& name) {
  std::vector<consumers::Consumer> found;
  for (consumers::Consumer& consumer : consumers::read_consumers(session)) {
    if (consumer.name == name) found.push_back(std::move(consumer));
  }
  return found;
}

int consumers_list(const Invocation& invocation) {
  postgres::Session session = open_database(invocation, "skua consumers");
  const nlohmann::json consumers = status::read_consumer_list(session);
  if (invocation[kJson]) {
    fmt::print("{}\n", consumers.dump(2));
  } else if (consumers.empty()) {
    fmt::print("no consumers: `skua consumers add` adds one\n");
  } else {
    fmt::print("{}", status::consumer_list_text(consumers));
  }
  return kSuccess;
}

int consumers_status(const Invocation& invocation) {
  const std::string name = invocation[kConsumerName];
  postgres::Session session = open_database(invocation, "skua consumers");
  nlohmann::json named = nlohmann::json::array();
  for (const nlohmann::json& consumer : status::read_consumer_list(session)) {
    if (consumer["name"] == name) named.push_back(consumer);
  }
  if (named.empty()) {
    fmt::print(
        stderr,
        "skua consumers status: there is no consumer '{}': `skua consumers list` shows all\n",
        name);
    return kFailure;
  }
  if (invocation[kJson]) {
    fmt::print("{}\n", named.dump(2));
    return kSuccess;
  }
  for (const nlohmann::json& consumer : named) fmt::print("{}", status::consumer_text(consumer));
  return kSuccess;
}

int consumers_wait(const Invocation& invocation) {
  const std::string name = invocation[kConsumerName];
  const std::chrono::seconds timeout = invocation[kWaitTimeout];
  postgres::Session session = open_database(invocation, "skua consumers");
  const auto given = invocation[kPosition];
  const std::int64_t position =
      given ? *given : session.run("SELECT skua.change_log_end()").int8(0, 0);
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  for (;;) {
    const auto found = consumers_named(session, name);
    if (found.empty()) {
      command_line::print_stderr("skua consumers wait: there is no consumer '{}'\n", name);
      return kFailure;
    }
    const consumers::Consumer& consumer = found.front();
    if (consumer.role == "live" && !consumer.lanes.empty()) {
      std::int64_t reached = consumer.lanes.front().done_pos;
      for (const consumers::ConsumerLane& lane : consumer.lanes) {
        reached = std::min(reached, lane.done_pos);
      }
      if (reached >= position) {
        fmt::print("{} has reached position {}\n", name, reached);
        return kSuccess;
      }
    }
    if (consumer.state == "stopped" || consumer.state == "lagged out") {
      command_line::print_stderr("skua consumers wait: {} is {}: {}\n", name, consumer.state,
                                 consumer.error);
      return kFailure;
    }
    if (std::chrono::steady_clock::now() >= deadline) {
      command_line::print_stderr("skua consumers wait: {} has not reached position {} within {}\n",
                                 name, position, invocation.text_of(kWaitTimeout));
      return kFailure;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

int consumers_run(const Invocation& invocation, bool until_idle) {
  const std::string name = invocation[kConsumerName];
  postgres::Session session = open_database(invocation, "skua consumers");
  if (!name.empty() && consumers_named(session, name).empty()) {
    command_line::print_stderr("skua consumers: there is no consumer '{}'\n", name);
    return kFailure;
  }
  consumers::prepare_fold_session(session);
  consumers::ConsumerMetrics metrics;
  consumers::rebuild_old_versions(session);
  consumers::MessageMover messages;
  const consumers::FoldOptions options{.only = name, .ignores_pause = true};
  bool worked = false;
  do {
    worked = consumers::maintain_projections(session, metrics) || messages.move(session) > 0 ||
             consumers::fold_step(session, metrics, options) == consumers::StepResult::Worked;
  } while (until_idle && worked);
  if (until_idle) consumers::replay_skipped_changes(session);
  fmt::print("{} applied in {}, {}\n", counted(metrics.changes.value(), "change"),
             counted(metrics.batches.value(), "batch"),
             counted(metrics.builds.value(), "projection") + " built");
  return kSuccess;
}

int consumers_verify(const Invocation& invocation) {
  const std::string name = invocation[kConsumerName];
  const auto rows = invocation[kRows];
  postgres::Session session = open_database(invocation, "skua consumers");
  consumers::prepare_fold_session(session);
  consumers::ConsumerMetrics metrics;
  // The check is repeated, because another process may work on the lanes now.
  for (int attempt = 0; attempt < 50; ++attempt) {
    const auto differences = consumers::check_projection(session, name, rows, metrics);
    if (differences) {
      for (const std::string& difference : *differences) fmt::print("{}\n", difference);
      if (!differences->empty()) return kFailure;
      fmt::print("{} equals the records\n", name);
      return kSuccess;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  command_line::print_stderr(
      "skua consumers verify: {} is not built, or other processes keep it busy\n", name);
  return kFailure;
}

std::string profile_names() {
  std::string names;
  for (const consumers::Tuning& tuning : consumers::tuning_profiles()) {
    names += (names.empty() ? "" : "|") + std::string(tuning.profile);
  }
  return names;
}

const Option<std::optional<std::int16_t>> kLanes(
    {.name = "--lanes",
     .type = "NUMBER",
     .meaning = "Parts that are applied at the same time: a power of two up to 64"},
    number_in<std::int16_t>(1, 64));
const Option<std::string> kPolicy(
    {.name = "--policy",
     .type = "pause|block_lane|skip|block_key",
     .meaning = "After a change has failed too often: pause the consumer, block its lane, skip the "
                "change (a dead letter), or block its account (webhook, pull)",
     .default_value = "pause"},
    one_of<std::string>({{"pause", "pause"},
                         {"block_lane", "block_lane"},
                         {"skip", "skip"},
                         {"block_key", "block_key"}}));
const Option<std::string> kProfile({.name = "--profile",
                                    .type = profile_names(),
                                    .meaning = "Size and frequency of batches",
                                    .default_value = "default"});
const Option<Texts> kOverrides(
    {.name = "--set",
     .type = "KEY=NUMBER",
     .meaning = "Replaces a value of the profile: batch, pause_ms, max_attempts, retry_ms, "
                "max_retry_ms"});
const Option<bool> kPull(
    {.name = "--pull",
     .meaning = "Add a pull consumer: a program that fetches changes from `skua serve`"});
const Option<OptionalText> kWebhook({.name = "--webhook",
                                     .type = "URL",
                                     .meaning = "Add a webhook: `skua serve` sends changes to it"});
const Option<std::optional<SettingValue>> kFrom(
    {.name = "--from",
     .type = "live|oldest|NUMBER",
     .meaning = "Webhook, pull: the first change, live, oldest or a position"});
const Option<Texts> kOps({.name = "--op",
                          .type = fmt::format("{}", fmt::join(streams::known_operations(), "|")),
                          .meaning = "Webhook, pull: changes of this operation; repeatable"});
const Option<Texts> kKinds({.name = "--kind",
                            .type = fmt::format("{}", fmt::join(streams::known_kinds(), "|")),
                            .meaning = "Webhook, pull: changes of this kind; repeatable"});
const Option<Texts> kTopics({.name = "--topic",
                             .type = "TOPIC",
                             .meaning = "Webhook, pull: own messages of this topic; repeatable"});
const Option<bool> kSkip(
    {.name = "--skip", .meaning = "Continue after the failed change, which becomes a dead letter"});
/// Throws UsageError for values of `skua consumers add` that no database accepts.
template <class NewConsumer>
void require_valid(const NewConsumer& consumer) {
  try {
    check_new(consumer);
  } catch (const consumers::ConsumerError& error) {
    throw UsageError(error.what());
  }
}

/// Runs an action that changes consumers, and prints `done` or the reason for the failure. Returns
/// the exit code.
template <class Action>
int attempt(const Invocation& invocation, const char* command, const std::string& done,
            Action action) {
  postgres::Session session = open_database(invocation, "skua consumers");
  try {
    action(session);
  } catch (const consumers::ConsumerError& error) {
    command_line::print_stderr("skua consumers {}: {}\n", command, error.what());
    return kFailure;
  }
  fmt::print("{}\n", done);
  return kSuccess;
}

/// Returns the values of `--set` as a JSON object. Throws UsageError.
std::string tuning_overrides(const Invocation& invocation) {
  static const std::map<std::string, std::int64_t> kMost = {{"batch", 1'000'000},
                                                            {"pause_ms", 3'600'000},
                                                            {"max_attempts", 1'000'000},
                                                            {"retry_ms", 86'400'000},
                                                            {"max_retry_ms", 86'400'000}};
  nlohmann::json object = nlohmann::json::object();
  for (const std::string& text : invocation[kOverrides]) {
    const std::size_t equals = text.find('=');
    const auto most = kMost.find(text.substr(0, equals));
    if (equals == std::string::npos || most == kMost.end()) {
      throw UsageError(fmt::format(
          "--set {}: give KEY=NUMBER with batch, pause_ms, max_attempts, retry_ms or max_retry_ms",
          text));
    }
    const std::int64_t least = most->first == "pause_ms" ? 0 : 1;
    object[most->first] =
        whole_number({text.substr(equals + 1), "--set " + most->first}, least, most->second);
  }
  return object.dump();
}

consumers::FirstChange first_change(const SettingValue& from) {
  if (from.value == "live") return consumers::FromNow{};
  if (from.value == "oldest") return consumers::FromOldest{};
  return consumers::FromPosition{whole_number(from, 1, std::int64_t{1} << 62)};
}

/// Returns the filter of the command line in the form of `skua.consumers.filter`. Throws
/// UsageError.
std::string filter_of(const Invocation& invocation) {
  for (const std::string& did : invocation[kDids]) {
    if (const auto account = atproto::check_account_did(did); !account) {
      throw UsageError(fmt::format("--did: '{}' is {}", did, account.error().message()));
    }
  }
  nlohmann::json filter = nlohmann::json::object();
  const std::pair<const char*, const Option<Texts>&> members[] = {{"collections", kCollections},
                                                                  {"dids", kDids},
                                                                  {"ops", kOps},
                                                                  {"kinds", kKinds},
                                                                  {"topics", kTopics}};
  for (const auto& [name, option] : members) {
    if (const Texts values = invocation[option]; !values.empty()) filter[name] = values;
  }
  std::string text = filter.dump();
  if (const auto parsed = streams::parse_leased_filter(text); !parsed) {
    throw UsageError(parsed.error());
  }
  return text;
}

int add_leased(const Invocation& invocation) {
  const bool is_pull = invocation[kPull];
  const OptionalText webhook = invocation[kWebhook];
  if (is_pull && webhook) throw UsageError("give --pull or --webhook, not both");
  consumers::NewLeasedConsumer consumer{
      .name = invocation[kConsumerName],
      .filter = filter_of(invocation),
      .lanes = invocation[kLanes].value_or(std::int16_t{1}),
      .policy = invocation[kPolicy],
      .profile = invocation[kProfile],
      .overrides = tuning_overrides(invocation),
      .first = first_change(invocation[kFrom].value_or(SettingValue{"live", kFrom.name}))};
  if (webhook) {
    if (const auto url = transport::parse_http_url(*webhook); !url) {
      throw UsageError(fmt::format("--webhook {}: {}", *webhook, url.error().message()));
    }
    consumer.url = *webhook;
  }
  require_valid(consumer);
  if (is_pull) {
    const std::string token = random_token();
    consumer.secret = streams::token_hash(token);
    return attempt(
        invocation, "add",
        fmt::format("added {}: it fetches changes from `skua serve` with this token, which is not "
                    "shown again:\n{}",
                    consumer.name, token),
        [&](postgres::Session& session) { consumers::add_leased_consumer(session, consumer); });
  }
  consumer.secret = streams::new_webhook_secret();
  return attempt(
      invocation, "add",
      fmt::format("added {}: `skua serve` sends changes to {}, signed with this secret, "
                  "which is not shown again:\n{}",
                  consumer.name, consumer.url, consumer.secret),
      [&](postgres::Session& session) { consumers::add_leased_consumer(session, consumer); });
}

int consumers_add(const Invocation& invocation) {
  if (invocation[kPull] || invocation[kWebhook]) return add_leased(invocation);
  for (const OptionText* option : std::initializer_list<const OptionText*>{
           &kFrom, &kCollections, &kDids, &kOps, &kKinds, &kTopics}) {
    if (!invocation.is_given(*option)) continue;
    throw UsageError(
        "a projection reads all changes: --from, --collection, --did, --op, --kind and --topic are "
        "for --webhook and --pull");
  }
  consumers::NewConsumer consumer{.name = invocation[kConsumerName],
                                  .policy = invocation[kPolicy],
                                  .profile = invocation[kProfile],
                                  .overrides = tuning_overrides(invocation)};
  if (const auto lanes = invocation[kLanes]) consumer.lanes = *lanes;
  require_valid(consumer);
  return attempt(invocation, "add",
                 fmt::format("added {}: `skua run` builds its tables", consumer.name),
                 [&](postgres::Session& session) { consumers::add_consumer(session, consumer); });
}

int consumers_remove(const Invocation& invocation) {
  const std::string name = invocation[kConsumerName];
  return attempt(invocation, "remove", fmt::format("removed {}: `skua run` drops its tables", name),
                 [&](postgres::Session& session) { consumers::remove_consumer(session, name); });
}

int consumers_pause(const Invocation& invocation, bool paused) {
  const std::string name = invocation[kConsumerName];
  return attempt(
      invocation, paused ? "pause" : "resume",
      fmt::format("{} {}", paused ? "paused" : "resumed", name),
      [&](postgres::Session& session) { consumers::pause_consumer(session, name, paused); });
}

int consumers_rebuild(const Invocation& invocation) {
  const std::string name = invocation[kConsumerName];
  return attempt(
      invocation, "rebuild",
      fmt::format("{}: `skua run` builds new tables and then replaces the present ones", name),
      [&](postgres::Session& session) { consumers::rebuild_consumer(session, name); });
}

/// Resets a consumer. With --from, a webhook or pull consumer continues at another position.
int consumers_reset(const Invocation& invocation) {
  const std::string name = invocation[kConsumerName];
  const bool skip = invocation[kSkip];
  const auto from = invocation[kFrom];
  if (!from) {
    return attempt(invocation, "reset",
                   fmt::format("{} continues{}", name, skip ? " after the change that failed" : ""),
                   [&](postgres::Session& session) {
                     consumers::reset_consumer(
                         session, name,
                         skip ? consumers::AfterStop::Skip : consumers::AfterStop::Retry);
                   });
  }
  if (skip) throw UsageError("give --from or --skip, not both");
  const consumers::FirstChange first = first_change(*from);
  return attempt(
      invocation, "reset",
      fmt::format("{} continues with {}", name,
                  from->value == "live"     ? "the next change"
                  : from->value == "oldest" ? "the oldest change"
                                            : "position " + from->value),
      [&](postgres::Session& session) { consumers::move_leased_consumer(session, name, first); });
}

}  // namespace

CommandSpecs consumers_commands() {
  const OptionUse name = required(kConsumerName);
  const OptionUse only = with_meaning(kConsumerName, "Apply changes to this consumer only");
  return {{"consumers",
           "Manage what follows the change log: counts, notifications, trends, webhooks, pull "
           "consumers"},
          {"consumers list",
           "List the consumers, their state and how far behind they are",
           {kDatabase, kJson},
           consumers_list},
          {"consumers status",
           "Print all values of a consumer, and its lanes",
           {kDatabase, name, kJson},
           consumers_status},
          {"consumers wait",
           "Wait until a consumer has read the changes up to now",
           {kDatabase, name, kPosition, kWaitTimeout},
           consumers_wait},
          {"consumers verify",
           "Compare a projection with the records",
           {kDatabase, name, kRows},
           consumers_verify},
          {"consumers run-once",
           "Do one step: build, exchange, or apply one batch of changes",
           {kDatabase, only},
           [](const Invocation& invocation) { return consumers_run(invocation, false); }},
          {"consumers run-until-idle",
           "Build projections and apply all changes",
           {kDatabase, only},
           [](const Invocation& invocation) { return consumers_run(invocation, true); }}};
}

CommandSpecs consumer_changes_commands() {
  const OptionUse from{kFrom, {.default_text = "live"}};
  const OptionUse collections =
      with_meaning(kCollections,
                   "Webhook, pull: records of this collection, such as app.bsky.feed.*; "
                   "repeatable");
  const OptionUse dids = with_meaning(kDids, "Webhook, pull: changes of this account; repeatable");
  const OptionUse name = required(kConsumerName);
  return {
      {"consumers add",
       "Add a projection, a webhook or a pull consumer",
       {kDatabase, name, kLanes, kPolicy, kProfile, kOverrides, kPull, kWebhook, from, collections,
        dids, kOps, kKinds, kTopics},
       consumers_add},
      {"consumers remove", "Remove a consumer and its tables", {kDatabase, name}, consumers_remove},
      {"consumers pause",
       "Let a consumer read no more changes",
       {kDatabase, name},
       [](const Invocation& invocation) { return consumers_pause(invocation, true); }},
      {"consumers resume",
       "Continue a paused consumer",
       {kDatabase, name},
       [](const Invocation& invocation) { return consumers_pause(invocation, false); }},
      {"consumers rebuild",
       "Build the tables of a projection again",
       {kDatabase, name},
       consumers_rebuild},
      {"consumers reset",
       "Continue a consumer that stopped at a failed change",
       {kDatabase, name, kSkip, {kFrom, {.default_text = "the change that failed"}}},
       consumers_reset}};
}

}  // namespace skua::cli
