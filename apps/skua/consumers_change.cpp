#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "atproto/syntax.hpp"
#include "base/random.hpp"
#include "change_feed/change_filter.hpp"
#include "change_feed/leased/leased_filter.hpp"
#include "change_feed/leased/pull_request.hpp"
#include "change_feed/leased/webhook_message.hpp"
#include "command_line/finish.hpp"
#include "commands.hpp"
#include "database.hpp"
#include "feed/consumers/consumer_change.hpp"
#include "feed/consumers/consumer_table.hpp"
#include "feed/consumers/tuning.hpp"
#include "feed/leases/leased_consumers.hpp"
#include "settings.hpp"
#include "store/session.hpp"
#include "transport/endpoint.hpp"

namespace skua::cli {
namespace {

std::string profile_names() {
  std::string names;
  for (const feed::Tuning& tuning : feed::tuning_profiles()) {
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
                          .type = fmt::format("{}",
                                              fmt::join(change_feed::known_operations(), "|")),
                          .meaning = "Webhook, pull: changes of this operation; repeatable"});
const Option<Texts> kKinds({.name = "--kind",
                            .type = fmt::format("{}", fmt::join(change_feed::known_kinds(), "|")),
                            .meaning = "Webhook, pull: changes of this kind; repeatable"});
const Option<bool> kSkip(
    {.name = "--skip", .meaning = "Continue after the failed change, which becomes a dead letter"});
/// Throws UsageError for values of `skua consumers add` that no database allows.
template <class NewConsumer>
void require_valid(const NewConsumer& consumer) {
  try {
    check_new(consumer);
  } catch (const feed::ConsumerError& error) {
    throw UsageError(error.what());
  }
}

/// Runs a command that changes consumers, and prints `done`, or why it was not possible. Returns
/// the exit code.
template <class Action>
int attempt(const Invocation& invocation, const char* command, const std::string& done,
            Action action) {
  store::Session session = open_database(invocation, "skua consumers");
  try {
    action(session);
  } catch (const feed::ConsumerError& error) {
    command_line::print_stderr("skua consumers {}: {}\n", command, error.what());
    return kFailure;
  }
  fmt::print("{}\n", done);
  return kSuccess;
}

/// The values of `--set` as a JSON object. Throws UsageError.
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

feed::FirstChange first_change(const SettingValue& from) {
  if (from.value == "live") return feed::FromNow{};
  if (from.value == "oldest") return feed::FromOldest{};
  return feed::FromPosition{whole_number(from, 1, std::int64_t{1} << 62)};
}

/// The filter of the command line, as in `skua.consumers.filter`. Throws UsageError.
std::string filter_of(const Invocation& invocation) {
  for (const std::string& did : invocation[kDids]) {
    if (const auto account = atproto::check_account_did(did); !account) {
      throw UsageError(fmt::format("--did: '{}' is {}", did, account.error().message()));
    }
  }
  nlohmann::json filter = nlohmann::json::object();
  const std::pair<const char*, const Option<Texts>&> members[] = {
      {"collections", kCollections}, {"dids", kDids}, {"ops", kOps}, {"kinds", kKinds}};
  for (const auto& [name, option] : members) {
    if (const Texts values = invocation[option]; !values.empty()) filter[name] = values;
  }
  std::string text = filter.dump();
  if (const auto parsed = change_feed::parse_leased_filter(text); !parsed) {
    throw UsageError(parsed.error());
  }
  return text;
}

int add_leased(const Invocation& invocation) {
  const bool is_pull = invocation[kPull];
  const OptionalText webhook = invocation[kWebhook];
  if (is_pull && webhook) throw UsageError("give --pull or --webhook, not both");
  feed::NewLeasedConsumer consumer{
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
    consumer.secret = change_feed::token_hash(token);
    return attempt(
        invocation, "add",
        fmt::format("added {}: it fetches changes from `skua serve` with this token, which is not "
                    "shown again:\n{}",
                    consumer.name, token),
        [&](store::Session& session) { feed::add_leased_consumer(session, consumer); });
  }
  consumer.secret = change_feed::new_webhook_secret();
  return attempt(invocation, "add",
                 fmt::format("added {}: `skua serve` sends changes to {}, signed with this secret, "
                             "which is not shown again:\n{}",
                             consumer.name, consumer.url, consumer.secret),
                 [&](store::Session& session) { feed::add_leased_consumer(session, consumer); });
}

int consumers_add(const Invocation& invocation) {
  if (invocation[kPull] || invocation[kWebhook]) return add_leased(invocation);
  for (const OptionText* option :
       std::initializer_list<const OptionText*>{&kFrom, &kCollections, &kDids, &kOps, &kKinds}) {
    if (!invocation.is_given(*option)) continue;
    throw UsageError(
        "a projection reads all changes: --from, --collection, --did, --op and --kind are for "
        "--webhook and --pull");
  }
  feed::NewConsumer consumer{.name = invocation[kConsumerName],
                             .policy = invocation[kPolicy],
                             .profile = invocation[kProfile],
                             .overrides = tuning_overrides(invocation)};
  if (const auto lanes = invocation[kLanes]) consumer.lanes = *lanes;
  require_valid(consumer);
  return attempt(invocation, "add",
                 fmt::format("added {}: `skua run` builds its tables", consumer.name),
                 [&](store::Session& session) { feed::add_consumer(session, consumer); });
}

int consumers_remove(const Invocation& invocation) {
  const std::string name = invocation[kConsumerName];
  return attempt(invocation, "remove", fmt::format("removed {}: `skua run` drops its tables", name),
                 [&](store::Session& session) { feed::remove_consumer(session, name); });
}

int consumers_pause(const Invocation& invocation, bool paused) {
  const std::string name = invocation[kConsumerName];
  return attempt(invocation, paused ? "pause" : "resume",
                 fmt::format("{} {}", paused ? "paused" : "resumed", name),
                 [&](store::Session& session) { feed::pause_consumer(session, name, paused); });
}

int consumers_rebuild(const Invocation& invocation) {
  const std::string name = invocation[kConsumerName];
  return attempt(
      invocation, "rebuild",
      fmt::format("{}: `skua run` builds new tables and then replaces the present ones", name),
      [&](store::Session& session) { feed::rebuild_consumer(session, name); });
}

/// With --from a webhook or pull consumer continues at another position.
int consumers_reset(const Invocation& invocation) {
  const std::string name = invocation[kConsumerName];
  const bool skip = invocation[kSkip];
  const auto from = invocation[kFrom];
  if (!from) {
    return attempt(invocation, "reset",
                   fmt::format("{} continues{}", name, skip ? " after the change that failed" : ""),
                   [&](store::Session& session) {
                     feed::reset_consumer(session, name,
                                          skip ? feed::AfterStop::Skip : feed::AfterStop::Retry);
                   });
  }
  if (skip) throw UsageError("give --from or --skip, not both");
  const feed::FirstChange first = first_change(*from);
  return attempt(
      invocation, "reset",
      fmt::format("{} continues with {}", name,
                  from->value == "live"     ? "the next change"
                  : from->value == "oldest" ? "the oldest change"
                                            : "position " + from->value),
      [&](store::Session& session) { feed::move_leased_consumer(session, name, first); });
}

}  // namespace

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
        dids, kOps, kKinds},
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
