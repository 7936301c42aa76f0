#include "retention.hpp"

#include <chrono>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/database.hpp"
#include "atproto/syntax.hpp"
#include "base/count_text.hpp"
#include "base/time.hpp"
#include "bootstrap_check.hpp"
#include "commands.hpp"
#include "database_choice.hpp"
#include "retention/removal.hpp"
#include "store/filter_table.hpp"
#include "store/process_name.hpp"
#include "store/session.hpp"

namespace skua::cli {
namespace {

store::Session retention_session(const Settings& settings, const RetentionFlags& flags) {
  const std::string url = require_database(settings, flags.database);
  app::check_database(url);
  return {url, store::process_name("skua retention")};
}

void require_collection(const RetentionFlags& flags) {
  if (!atproto::is_nsid(flags.collection)) {
    throw UsageError(fmt::format("'{}' is not a collection; an example is app.bsky.feed.like",
                                 flags.collection));
  }
}

}  // namespace

int retention_list(const Settings& settings, const RetentionFlags& flags) {
  store::Session session = retention_session(settings, flags);
  const auto rules = retention::read_rules(session);
  if (flags.json) {
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

int retention_set(const Settings& settings, const RetentionFlags& flags) {
  require_collection(flags);
  const auto keep = retention_time({flags.keep, "DURATION"});
  store::Session session = retention_session(settings, flags);
  if (!store::set_retention(session, flags.collection, keep)) {
    fmt::print("nothing changed\n");
    return kSuccess;
  }
  fmt::print(
      "records of {} are kept for {}; `skua run` removes older ones within a day, `skua retention "
      "apply` now\n",
      flags.collection, duration_text(keep));
  return kSuccess;
}

int retention_remove(const Settings& settings, const RetentionFlags& flags) {
  require_collection(flags);
  store::Session session = retention_session(settings, flags);
  if (!store::set_retention(session, flags.collection, std::nullopt)) {
    fmt::print("nothing changed: records of {} are kept\n", flags.collection);
    return kSuccess;
  }
  fmt::print("records of {} are kept from now on; `skua backfill` adds older ones\n",
             flags.collection);
  return kSuccess;
}

int retention_apply(const Settings& settings, const RetentionFlags& flags) {
  store::Session session = retention_session(settings, flags);
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

}  // namespace skua::cli
