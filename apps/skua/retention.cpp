#include <chrono>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "atproto/syntax.hpp"
#include "base/text.hpp"
#include "base/time.hpp"
#include "commands.hpp"
#include "database.hpp"
#include "postgres/session.hpp"
#include "retention/removal.hpp"
#include "settings.hpp"
#include "tables/filter_table.hpp"

namespace skua::cli {
namespace {

std::string read_collection(const SettingValue& given) {
  if (!atproto::is_nsid(given.value)) {
    throw UsageError(
        fmt::format("'{}' is not a collection; an example is app.bsky.feed.like", given.value));
  }
  return given.value;
}

const Option<std::string> kCollection({.name = "COLLECTION",
                                       .meaning = "A collection, such as app.bsky.feed.like"},
                                      read_collection);
const Option<std::chrono::seconds> kKeep({.name = "DURATION",
                                          .meaning = "How long, from 1h on, such as 12h or 30d"},
                                         retention_time);

int retention_list(const Invocation& invocation) {
  postgres::Session session = open_state_to_read(invocation, "skua retention");
  const auto rules = retention::read_rules(session);
  if (invocation[kJson]) {
    nlohmann::json json = nlohmann::json::array();
    for (const retention::Rule& rule : rules) {
      nlohmann::json one = {{"collection", rule.collection},
                            {"keep_seconds", rule.keep.count()},
                            {"pass_at", nullptr},
                            {"removed_rows", rule.removed}};
      if (rule.pass_at) one["pass_at"] = format_datetime(*rule.pass_at);
      json.push_back(one);
    }
    fmt::print("{}\n", json.dump(2));
    return kSuccess;
  }
  if (rules.empty()) fmt::print("all records are kept\n");
  for (const retention::Rule& rule : rules) {
    fmt::print("{}: {}, {} removed, last pass {}\n", rule.collection, duration_text(rule.keep),
               counted(rule.removed, "row"),
               rule.pass_at ? "at " + format_datetime(*rule.pass_at) : "not yet");
  }
  return kSuccess;
}

int retention_set(const Invocation& invocation) {
  const std::string collection = invocation[kCollection];
  const auto keep = invocation[kKeep];
  postgres::Session session = open_database(invocation, "skua retention");
  if (!tables::set_retention(session, collection, keep)) {
    fmt::print("nothing changed\n");
    return kSuccess;
  }
  fmt::print(
      "records of {} are kept for {}; `skua run` removes older ones within a day, `skua retention "
      "apply` now\n",
      collection, duration_text(keep));
  return kSuccess;
}

int retention_remove(const Invocation& invocation) {
  const std::string collection = invocation[kCollection];
  postgres::Session session = open_database(invocation, "skua retention");
  if (!tables::set_retention(session, collection, std::nullopt)) {
    fmt::print("nothing changed: records of {} are kept\n", collection);
    return kSuccess;
  }
  fmt::print("records of {} are kept from now on; `skua backfill` adds older ones\n", collection);
  return kSuccess;
}

int retention_apply(const Invocation& invocation) {
  postgres::Session session = open_database(invocation, "skua retention");
  if (!can_use_indexes(session, "retention apply")) return kFailure;
  retention::RemovalMetrics metrics;
  while (retention::purge_deleted(session, {}, metrics) > 0) {
  }
  std::size_t accounts = 0;
  while (const std::size_t some =
             retention::remove_excluded(session, retention::Due::Now, metrics)) {
    accounts += some;
  }
  for (const retention::Rule& rule : retention::read_rules(session)) {
    while (!retention::expire_step(session, rule.collection, metrics).is_end) {
    }
  }
  fmt::print("{} of {}, {} of deleted accounts and {} removed\n",
             counted(metrics.excluded.value(), "row"), counted(accounts, "excluded account"),
             metrics.purged.value(), counted(metrics.expired.value(), "old row"));
  return kSuccess;
}

}  // namespace

CommandSpecs retention_commands() {
  const OptionUse collection = required(kCollection);
  return {{"retention", "Show and change how long records are kept"},
          {"retention list",
           "List the collections whose old records are removed",
           {kDatabase, kJson},
           retention_list},
          {"retention set",
           "Keep records of a collection for a time only",
           {kDatabase, collection, required(kKeep)},
           retention_set},
          {"retention remove",
           "Keep all records of a collection",
           {kDatabase, collection},
           retention_remove},
          {"retention apply",
           "Remove old rows and the rows of excluded and deleted accounts now",
           {kDatabase},
           retention_apply}};
}

}  // namespace skua::cli
