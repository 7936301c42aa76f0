#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "atproto/syntax.hpp"
#include "base/random.hpp"
#include "command_line/finish.hpp"
#include "commands.hpp"
#include "consumer_databases.hpp"
#include "consumers/consumer_settings.hpp"
#include "consumers/consumer_table.hpp"
#include "consumers/fold_step.hpp"
#include "consumers/leases/leased_consumers.hpp"
#include "consumers/messages/message_inbox.hpp"
#include "consumers/projection_upkeep.hpp"
#include "consumers/projections/projection.hpp"
#include "consumers/tuning.hpp"
#include "postgres/session.hpp"
#include "settings.hpp"
#include "status/consumer_status.hpp"
#include "streams/change_filter.hpp"
#include "streams/leased/leased_batch.hpp"
#include "streams/leased/letter_event.hpp"
#include "streams/leased/node_moves.hpp"
#include "streams/leased/pull_request.hpp"
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

/// Adds to the consumers of the query database the nodes whose changes come first, with the state
/// that they have there: after a move of groups, they get the changes of the new node later.
void add_awaited_nodes(ConsumerDatabases& nodes, nlohmann::json& all) {
  std::vector<std::string> names;
  std::set<std::pair<std::string, std::string>> of_network;
  for (const ConsumerDatabase& database : nodes) names.push_back(database.node);
  streams::NodeMoves moves(names);
  for (ConsumerDatabase& database : nodes) {
    moves.update(database.session, database.node);
    for (std::string& name : consumers::read_network_consumer_names(database.session)) {
      of_network.emplace(database.node, std::move(name));
    }
  }
  const auto key_of = [](const nlohmann::json& consumer) {
    return std::pair(consumer["node"].get<std::string>(), consumer["name"].get<std::string>());
  };
  std::map<std::pair<std::string, std::string>, nlohmann::json> states;
  for (const nlohmann::json& consumer : all) states[key_of(consumer)] = consumer["state"];
  for (nlohmann::json& consumer : all) {
    consumer["waits_for"] = nlohmann::json::array();
    const auto key = key_of(consumer);
    if (!of_network.contains(key)) continue;
    const auto& [here, name] = key;
    for (const std::string& node : moves.awaited(here, name)) {
      consumer["waits_for"].push_back({{"node", node}, {"state", states[{node, name}]}});
    }
  }
}

/// Returns the consumers of all databases; those of a node have its name.
nlohmann::json consumers_of(ConsumerDatabases& databases) {
  nlohmann::json all = nlohmann::json::array();
  for (ConsumerDatabase& database : databases) {
    for (nlohmann::json& consumer : status::read_consumer_list(database.session)) {
      if (are_nodes(databases)) consumer["node"] = database.node;
      all.push_back(std::move(consumer));
    }
  }
  if (are_nodes(databases)) add_awaited_nodes(databases, all);
  return all;
}

/// Prints which nodes lack a consumer that all nodes should have.
void print_lacking(ConsumerDatabases& nodes) {
  std::map<std::string, std::set<std::string>> nodes_with;
  for (ConsumerDatabase& database : nodes) {
    for (const auto& name : consumers::read_network_consumer_names(database.session)) {
      nodes_with[name].insert(database.node);
    }
  }
  for (const auto& [name, with] : nodes_with) {
    for (const ConsumerDatabase& database : nodes) {
      if (with.contains(database.node)) continue;
      fmt::print("the node {} lacks {}: `skua nodes sync` adds it\n", database.node, name);
    }
  }
}

int consumers_list(const Invocation& invocation) {
  auto databases = open_consumers(invocation, Access::Read);
  const nlohmann::json all = consumers_of(databases);
  if (invocation[kJson]) {
    fmt::print("{}\n", all.dump(2));
  } else if (all.empty()) {
    fmt::print("no consumers: `skua consumers add` adds one\n");
  } else if (are_nodes(databases)) {
    for (const ConsumerDatabase& database : databases) {
      nlohmann::json of_node = nlohmann::json::array();
      for (const nlohmann::json& consumer : all) {
        if (consumer["node"] == database.node) of_node.push_back(consumer);
      }
      if (of_node.empty()) continue;
      fmt::print("{}:\n{}", database.node, status::consumer_list_text(of_node, 2));
    }
    print_lacking(databases);
  } else {
    fmt::print("{}", status::consumer_list_text(all, 0));
  }
  return kSuccess;
}

/// Prints a consumer of a node.
void print_of_node(const nlohmann::json& consumer) {
  fmt::print("node: {}\n{}", consumer["node"].get<std::string>(), status::consumer_text(consumer));
  for (const nlohmann::json& awaited : consumer["waits_for"]) {
    fmt::print(
        "  its changes since the arrival of groups from the node {0} wait: it must first have the "
        "earlier ones of the node {0}, where it is {1}\n",
        awaited["node"].get<std::string>(), awaited["state"].get<std::string>());
  }
}

int consumers_status(const Invocation& invocation) {
  const std::string name = invocation[kConsumerName];
  auto databases = open_consumers(invocation, Access::Read);
  nlohmann::json named = nlohmann::json::array();
  for (const nlohmann::json& consumer : consumers_of(databases)) {
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
  for (const nlohmann::json& consumer : named) {
    if (are_nodes(databases)) {
      print_of_node(consumer);
    } else {
      fmt::print("{}", status::consumer_text(consumer));
    }
  }
  return kSuccess;
}

constexpr std::chrono::milliseconds kWaitPause{20};

/// Waits until the own messages that are committed now are in the change log. Returns false if they
/// are not in time.
bool wait_for_messages(postgres::Session& session, std::chrono::steady_clock::time_point deadline) {
  const auto newest = consumers::newest_waiting_message(session);
  while (newest && consumers::has_waiting_message(session, *newest)) {
    if (std::chrono::steady_clock::now() >= deadline) return false;
    std::this_thread::sleep_for(kWaitPause);
  }
  return true;
}

int wait_for_consumer(const Invocation& invocation, ConsumerDatabase& database,
                      std::chrono::steady_clock::time_point deadline) {
  const std::string name = invocation[kConsumerName];
  postgres::Session& session = database.session;
  const auto given = invocation[kPosition];
  const std::string where = database.prefix();
  if (!given && !wait_for_messages(session, deadline)) {
    command_line::print_stderr(
        "skua consumers wait: {}own messages have waited in the inbox for {}: start `skua run` or "
        "`skua serve`\n",
        where, invocation.text_of(kWaitTimeout));
    return kFailure;
  }
  const std::int64_t position =
      given ? *given : session.run("SELECT skua.change_log_end()").int8(0, 0);
  for (;;) {
    const auto found = consumers_named(session, name);
    if (found.empty()) {
      command_line::print_stderr("skua consumers wait: {}there is no consumer '{}'\n", where, name);
      return kFailure;
    }
    const consumers::Consumer& consumer = found.front();
    if (consumer.role == "live" && !consumer.lanes.empty()) {
      std::int64_t reached = consumer.lanes.front().done_pos;
      for (const consumers::ConsumerLane& lane : consumer.lanes) {
        reached = std::min(reached, lane.done_pos);
      }
      if (reached >= position) {
        fmt::print("{}{} has reached position {}\n", where, name, reached);
        return kSuccess;
      }
    }
    if (consumer.state == "stopped" || consumer.state == "lagged out") {
      command_line::print_stderr("skua consumers wait: {}{} is {}: {}\n", where, name,
                                 consumer.state, consumer.error);
      return kFailure;
    }
    if (std::chrono::steady_clock::now() >= deadline) {
      command_line::print_stderr(
          "skua consumers wait: {}{} has not reached position {} within {}\n", where, name,
          position, invocation.text_of(kWaitTimeout));
      return kFailure;
    }
    std::this_thread::sleep_for(kWaitPause);
  }
}

int consumers_wait(const Invocation& invocation) {
  const auto deadline = std::chrono::steady_clock::now() + invocation[kWaitTimeout];
  auto databases = open_consumers(invocation, Access::Read);
  if (invocation[kPosition]) require_one_log(databases, "--position");
  for (ConsumerDatabase& database : databases) {
    const int code = wait_for_consumer(invocation, database, deadline);
    if (code != kSuccess) return code;
  }
  return kSuccess;
}

int verify_projection(const Invocation& invocation, ConsumerDatabase& database) {
  const std::string name = invocation[kConsumerName];
  const auto rows = invocation[kRows];
  postgres::Session& session = database.session;
  consumers::prepare_fold_session(session);
  consumers::ConsumerMetrics metrics;
  // The check is repeated, because another process may work on the lanes now.
  for (int attempt = 0; attempt < 50; ++attempt) {
    const auto differences = consumers::check_projection(session, name, rows, metrics);
    if (differences) {
      for (const std::string& difference : *differences) {
        fmt::print("{}{}\n", database.prefix(), difference);
      }
      if (!differences->empty()) return kFailure;
      fmt::print("{}{} equals the records\n", database.prefix(), name);
      return kSuccess;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  command_line::print_stderr(
      "skua consumers verify: {}{} is not built, or other processes keep it busy\n",
      database.prefix(), name);
  return kFailure;
}

int consumers_verify(const Invocation& invocation) {
  int code = kSuccess;
  for (ConsumerDatabase& database : open_consumers(invocation, Access::Write)) {
    code = std::max(code, verify_projection(invocation, database));
  }
  return code;
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
std::string tuning_keys() {
  std::string keys;
  for (const consumers::TuningValue& value : consumers::tuning_values()) {
    keys += (keys.empty() ? "" : ", ") + std::string(value.key);
  }
  return keys;
}

const Option<Texts> kOverrides({.name = "--set",
                                .type = "KEY=NUMBER",
                                .meaning = "Replaces a value of the profile: " + tuning_keys()});
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
const Option<bool> kNoFilter({.name = "--no-filter", .meaning = "Webhook, pull: all changes"});
const Option<bool> kNewSecret(
    {.name = "--new-secret",
     .meaning = "Webhook, pull: make and print another secret or token; the former one ends"});
const Option<std::optional<std::int64_t>> kSkip(
    {.name = "--skip",
     .type = "POSITION",
     .meaning = "Continue after the failed change at this position, which becomes a dead letter. "
                "`skua consumers status` prints the position"},
    number_in<std::int64_t>(1, std::int64_t{1} << 62));
const Option<Texts> kTopics({.name = "--topic",
                             .type = "TOPIC",
                             .meaning = "Webhook, pull: own messages of this topic; repeatable"});
/// Throws UsageError for values of `skua consumers add` that no database accepts.
template <class NewConsumer>
void require_valid(const NewConsumer& consumer) {
  try {
    check_new(consumer);
  } catch (const consumers::ConsumerError& error) {
    throw UsageError(error.what());
  }
}

/// Runs an action that changes consumers in each database, and prints `done` or the reasons for the
/// failures. Returns the exit code.
template <class Action>
int attempt_in(ConsumerDatabases& databases, const char* command, const std::string& done,
               Action action) {
  int code = kSuccess;
  for (ConsumerDatabase& database : databases) {
    try {
      action(database.session);
    } catch (const consumers::ConsumerError& error) {
      command_line::print_stderr("skua consumers {}: {}{}\n", command, database.prefix(),
                                 error.what());
      code = kFailure;
    }
  }
  if (code == kSuccess) fmt::print("{}\n", done);
  return code;
}

/// The same for the stated database, or each node of a query database.
template <class Action>
int attempt(const Invocation& invocation, const char* command, const std::string& done,
            Action action) {
  auto databases = open_consumers(invocation, Access::Write);
  return attempt_in(databases, command, done, action);
}

/// Throws ConsumerError if a database has a consumer of this name.
void refuse_existing(ConsumerDatabases& databases, const std::string& name) {
  for (ConsumerDatabase& database : databases) {
    try {
      consumers::refuse_consumer(database.session, name);
    } catch (const consumers::ConsumerError& error) {
      throw consumers::ConsumerError(database.prefix() + error.what());
    }
  }
}

/// Opens the databases for a new webhook or pull consumer. Throws ConsumerError if one of several
/// has a consumer of this name, before any of them is changed.
ConsumerDatabases open_for_leased(const Invocation& invocation) {
  auto databases = open_consumers(invocation, Access::Write);
  if (are_nodes(databases)) refuse_existing(databases, invocation[kConsumerName]);
  return databases;
}

/// Opens the databases for a new projection: the nodes that have it already are left out, unless
/// all have it. Throws ConsumerError if a webhook or pull consumer of one of them has the name.
ConsumerDatabases open_for_projection(const Invocation& invocation) {
  const std::string name = invocation[kConsumerName];
  auto databases = open_consumers(invocation, Access::Write);
  if (!are_nodes(databases)) return databases;
  const auto has_it = [&](ConsumerDatabase& database) {
    const auto found = consumers_named(database.session, name);
    return !found.empty() && found.front().kind == "projection";
  };
  if (std::ranges::all_of(databases, has_it)) return databases;
  std::erase_if(databases, [&](ConsumerDatabase& database) {
    if (!has_it(database)) return false;
    fmt::print("the node {} has {} already\n", database.node, name);
    return true;
  });
  refuse_existing(databases, name);
  return databases;
}

/// Returns the values of `--set` as a JSON object; `default` is null. Throws UsageError.
nlohmann::json tuning_overrides(const Invocation& invocation) {
  const std::vector<consumers::TuningValue>& values = consumers::tuning_values();
  nlohmann::json object = nlohmann::json::object();
  for (const std::string& text : invocation[kOverrides]) {
    const std::size_t equals = text.find('=');
    const std::string key = text.substr(0, equals);
    const auto value = std::ranges::find(values, key, &consumers::TuningValue::key);
    if (equals == std::string::npos || value == values.end()) {
      throw UsageError(fmt::format("--set {}: give KEY=NUMBER with {}", text, tuning_keys()));
    }
    const std::string number = text.substr(equals + 1);
    if (number == "default") {
      object[key] = nullptr;
    } else {
      object[key] = whole_number({number, "--set " + key}, value->least, value->most);
    }
  }
  return object;
}

/// Returns the values of `--set` for a new consumer, which has no values to give back.
std::string new_overrides(const Invocation& invocation) {
  const nlohmann::json given = tuning_overrides(invocation);
  nlohmann::json object = nlohmann::json::object();
  for (const auto& [key, value] : given.items()) {
    if (!value.is_null()) object[key] = value;
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

/// Returns the URL of a webhook. Throws UsageError if it is malformed.
std::string checked_url(const std::string& url) {
  if (const auto parsed = transport::parse_http_url(url); !parsed) {
    throw UsageError(fmt::format("--webhook {}: {}", url, parsed.error().message()));
  }
  return url;
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
      .overrides = new_overrides(invocation),
      .first = first_change(invocation[kFrom].value_or(SettingValue{"live", kFrom.name}))};
  if (webhook) consumer.url = checked_url(*webhook);
  require_valid(consumer);
  auto databases = open_for_leased(invocation);
  consumer.of_network = are_nodes(databases);
  if (std::holds_alternative<consumers::FromPosition>(consumer.first)) {
    require_one_log(databases, "--from");
  }
  if (is_pull) {
    const std::string token = random_token();
    consumer.secret = streams::token_hash(token);
    return attempt_in(
        databases, "add",
        fmt::format("added {}: it fetches changes from `skua serve` with this token, which is not "
                    "shown again:\n{}",
                    consumer.name, token),
        [&](postgres::Session& session) { consumers::add_leased_consumer(session, consumer); });
  }
  consumer.secret = streams::new_webhook_secret();
  return attempt_in(
      databases, "add",
      fmt::format("added {}: `skua serve` sends changes to {}, signed with this secret, "
                  "which is not shown again:\n{}",
                  consumer.name, consumer.url, consumer.secret),
      [&](postgres::Session& session) { consumers::add_leased_consumer(session, consumer); });
}

int add_projection(const Invocation& invocation) {
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
                                  .overrides = new_overrides(invocation)};
  if (const auto lanes = invocation[kLanes]) consumer.lanes = *lanes;
  require_valid(consumer);
  auto databases = open_for_projection(invocation);
  return attempt_in(databases, "add",
                    fmt::format("added {}: `skua run` builds its tables", consumer.name),
                    [&](postgres::Session& session) {
                      try {
                        consumers::add_consumer(session, consumer);
                      } catch (const consumers::UnknownProjection& error) {
                        throw UsageError(error.what());
                      }
                    });
}

int consumers_add(const Invocation& invocation) {
  try {
    if (invocation[kPull] || invocation[kWebhook]) return add_leased(invocation);
    return add_projection(invocation);
  } catch (const consumers::ConsumerError& error) {
    command_line::print_stderr("skua consumers add: {}\n", error.what());
    return kFailure;
  }
}

/// Returns the new values of the command line. Throws UsageError.
consumers::ConsumerSettings new_settings(const Invocation& invocation) {
  consumers::ConsumerSettings settings{.lanes = invocation[kLanes],
                                       .overrides = tuning_overrides(invocation).dump()};
  if (invocation.is_given(kPolicy)) settings.policy = invocation[kPolicy];
  if (invocation.is_given(kProfile)) settings.profile = invocation[kProfile];
  if (const OptionalText url = invocation[kWebhook]) settings.url = checked_url(*url);
  const std::string filter = filter_of(invocation);
  const bool has_filter = filter != "{}";
  if (has_filter && invocation[kNoFilter]) {
    throw UsageError("give --no-filter or the values of a filter, not both");
  }
  if (has_filter || invocation[kNoFilter]) settings.filter = filter;
  return settings;
}

/// Changes an existing consumer.
int consumers_set(const Invocation& invocation) {
  const std::string name = invocation[kConsumerName];
  const bool has_new_secret = invocation[kNewSecret];
  consumers::ConsumerSettings settings = new_settings(invocation);
  const bool is_empty = !settings.lanes && !settings.policy && !settings.profile && !settings.url &&
                        !settings.filter && settings.overrides == "{}";
  if (is_empty && !has_new_secret) {
    throw UsageError("give a value to change, such as --policy skip or --set batch=5000");
  }
  auto databases = open_consumers(invocation, Access::Write);
  std::string secret;
  if (has_new_secret) {
    // The kind of a consumer does not change, and is the same on all nodes.
    const auto leased = consumers::find_leased_consumer(databases.front().session, name);
    const bool is_webhook = leased && leased->is_webhook;
    secret = is_webhook ? streams::new_webhook_secret() : random_token();
    settings.secret = is_webhook ? secret : streams::token_hash(secret);
  }
  int code = kSuccess;
  consumers::SettingsResult result;
  for (ConsumerDatabase& database : databases) {
    try {
      result = consumers::set_consumer(database.session, name, settings);
    } catch (const consumers::ConsumerError& error) {
      command_line::print_stderr("skua consumers set: {}{}\n", database.prefix(), error.what());
      code = kFailure;
    }
  }
  if (code != kSuccess) return code;
  fmt::print("changed {}{}\n", name,
             result.is_rebuilt ? ": its tables are built again, with the new number of lanes, and "
                                 "then replace the present ones"
                               : "");
  if (has_new_secret) {
    fmt::print("its new {}, which is not shown again:\n{}\n",
               result.kind == "webhook" ? "secret" : "token", secret);
  }
  return kSuccess;
}

int consumers_remove(const Invocation& invocation) {
  const std::string name = invocation[kConsumerName];
  return attempt(invocation, "remove", fmt::format("removed {}: `skua run` drops its tables", name),
                 [&](postgres::Session& session) { consumers::remove_consumer(session, name); });
}

int consumers_pause(const Invocation& invocation) {
  const std::string name = invocation[kConsumerName];
  return attempt(invocation, "pause", fmt::format("paused {}", name),
                 [&](postgres::Session& session) { consumers::pause_consumer(session, name); });
}

int consumers_resume(const Invocation& invocation) {
  const std::string name = invocation[kConsumerName];
  return attempt(invocation, "resume", fmt::format("resumed {}", name),
                 [&](postgres::Session& session) { consumers::resume_consumer(session, name); });
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
  const auto skip = invocation[kSkip];
  const auto from = invocation[kFrom];
  if (skip && from) throw UsageError("give --from or --skip, not both");
  const consumers::FirstChange first = from ? first_change(*from) : consumers::FromNow{};
  auto databases = open_consumers(invocation, Access::Write);
  if (skip) {
    require_one_log(databases, "--skip");
    return attempt_in(databases, "reset",
                      fmt::format("{} continues after position {}", name, *skip),
                      [&](postgres::Session& session) {
                        consumers::skip_change(session, name, *skip, streams::read_letter_event);
                      });
  }
  if (!from) {
    // One stopped consumer is enough: on the other nodes it may work.
    bool had_stopped = false;
    const postgres::Session& last = databases.back().session;
    return attempt_in(databases, "reset", fmt::format("{} continues", name),
                      [&](postgres::Session& session) {
                        try {
                          consumers::reset_consumer(session, name);
                          had_stopped = true;
                        } catch (const consumers::NotStopped&) {
                          if (&session == &last && !had_stopped) throw;
                        }
                      });
  }
  if (std::holds_alternative<consumers::FromPosition>(first)) require_one_log(databases, "--from");
  return attempt_in(
      databases, "reset",
      fmt::format("{} continues with {}", name,
                  from->value == "live"     ? "the next change"
                  : from->value == "oldest" ? "the oldest change"
                                            : "position " + from->value),
      [&](postgres::Session& session) { consumers::move_leased_consumer(session, name, first); });
}

}  // namespace

CommandSpecs consumers_commands() {
  const OptionUse name = required(kConsumerName);
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
           consumers_verify}};
}

namespace {

/// Returns the help of `skua consumers add`, with the projections.
std::string help_of_add() {
  std::string text = "Projections:\n";
  for (const consumers::Projection& each : consumers::projections()) {
    text += fmt::format("  {:<14} {}\n", each.name, each.help);
  }
  return text + "\n" + help_text("skua consumers add");
}

}  // namespace

CommandSpecs consumer_changes_commands() {
  const OptionUse from{kFrom, {.default_text = "live"}};
  const OptionUse::Differences unchanged{.default_text = "the present one"};
  const OptionUse collections =
      with_meaning(kCollections,
                   "Webhook, pull: records of this collection, such as app.bsky.feed.*; "
                   "repeatable");
  const OptionUse dids = with_meaning(kDids, "Webhook, pull: changes of this account; repeatable");
  const OptionUse name = required(kConsumerName);
  CommandSpec add{"consumers add",
                  "Add a projection, a webhook or a pull consumer",
                  {kDatabase, name, kLanes, kPolicy, kProfile, kOverrides, kPull, kWebhook, from,
                   collections, dids, kOps, kKinds, kTopics},
                  consumers_add};
  add.help = help_of_add();
  return {
      std::move(add),
      {"consumers set",
       "Change a consumer; its position and what waits stay",
       {kDatabase,
        name,
        kLanes,
        {kPolicy, unchanged},
        {kProfile, unchanged},
        {kOverrides,
         {.type = "KEY=NUMBER|default",
          .meaning = "Replaces a value of the profile, or gives it back: " + tuning_keys()}},
        with_meaning(kWebhook, "Webhook: send the changes to this URL"),
        collections,
        dids,
        kOps,
        kKinds,
        kTopics,
        kNoFilter,
        kNewSecret},
       consumers_set},
      {"consumers remove", "Remove a consumer and its tables", {kDatabase, name}, consumers_remove},
      {"consumers pause",
       "Let a consumer read no more changes",
       {kDatabase, name},
       consumers_pause},
      {"consumers resume",
       "Continue a paused consumer, and try at once what waits after a failure",
       {kDatabase, name},
       consumers_resume},
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
