#include "feed/consumers/consumer_table.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "feed/consumers/consumer_replays.hpp"
#include "feed/consumers/tuning.hpp"
#include "feed/projections/projection.hpp"
#include "feed/projections/projection_tables.hpp"

namespace skua::feed {
namespace {

using store::Statement;

// A build holds the row of its consumer, so that no second one begins. Commands take this lock
// first, and wait for a moment.
const Statement kLockConsumers{"consumers_lock", "SELECT pg_advisory_xact_lock(1936422146, 6)"};
const Statement kInsert{
    "consumers_insert",
    "INSERT INTO skua.consumers (name, kind, version, lanes, role, state, policy, profile, "
    "overrides) SELECT $1::text, 'projection', $2::int4, $3::int4::int2, 'next', 'filling', "
    "$4::text, $5::text, $6::text::jsonb ON CONFLICT (name, role) WHERE role <> 'retired' "
    "DO NOTHING"};
const Statement kExists{"consumers_exists",
                        "SELECT EXISTS (SELECT FROM skua.consumers WHERE name = $1::text AND role "
                        "<> 'retired')"};
const Statement kRetire{"consumers_retire",
                        "UPDATE skua.consumers SET role = 'retired' WHERE name = $1::text AND "
                        "role <> 'retired'"};
const Statement kPause{"consumers_pause",
                       "UPDATE skua.consumers SET paused = $2::boolean WHERE name = $1::text AND "
                       "role <> 'retired'"};
// A build that failed keeps its tables and lanes: another one takes its place.
const Statement kRetireFailedBuild{
    "consumers_retire_failed_build",
    "UPDATE skua.consumers SET role = 'retired' WHERE name = $1::text AND role = 'next' AND state "
    "IN ('stopped', 'lagged out')"};
const Statement kRebuild{
    "consumers_rebuild",
    "INSERT INTO skua.consumers (name, kind, version, lanes, role, state, policy, profile, "
    "overrides) SELECT name, kind, $2::int4, lanes, 'next', 'filling', policy, profile, overrides "
    "FROM skua.consumers WHERE name = $1::text ORDER BY id DESC LIMIT 1 "
    "ON CONFLICT (name, role) WHERE role <> 'retired' DO NOTHING"};
const Statement kSkip{"consumers_skip",
                      "UPDATE skua.consumer_lanes AS l SET pos = l.pos + 1 FROM skua.consumers AS "
                      "c WHERE c.id = l.consumer_id AND c.name = $1::text AND c.state = 'stopped' "
                      "AND l.attempts > 0 RETURNING l.lane, l.pos - 1, coalesce(l.error, '')"};
const Statement kContinue{
    "consumers_continue",
    "WITH continued AS (UPDATE skua.consumers SET state = 'running', error = NULL WHERE name = "
    "$1::text AND state = 'stopped' RETURNING id) UPDATE skua.consumer_lanes AS l SET attempts = "
    "0, retry_at = NULL, batch = NULL, error = NULL FROM continued AS c WHERE c.id = l.consumer_id "
    "RETURNING 1"};
const Statement kList{
    "consumers_list",
    "SELECT c.id, c.name, c.kind, c.version, c.role, c.state, c.paused, c.policy, c.profile, "
    "c.overrides::text, coalesce(c.error, ''), l.lane, l.pos, l.attempts, coalesce(l.error, ''), "
    "e.log_end - l.pos, CASE WHEN l.pos < e.log_end THEN (extract(epoch FROM clock_timestamp() - "
    "(SELECT b.at FROM skua.change_log AS b WHERE b.pos <= l.pos ORDER BY b.pos DESC LIMIT 1)) * "
    "1000)::int8 ELSE 0 END FROM (SELECT skua.change_log_end() AS log_end) AS e CROSS JOIN "
    "skua.consumers AS c LEFT JOIN skua.consumer_lanes AS l ON l.consumer_id = c.id "
    "WHERE c.role <> 'retired' ORDER BY c.name, c.role, c.id, l.lane"};

const Projection& require_projection(const std::string& name) {
  if (const Projection* projection = find_projection(name)) return *projection;
  std::vector<std::string_view> names;
  for (const Projection* one : projections()) names.push_back(one->name);
  throw ConsumerError(
      fmt::format("there is no projection '{}': choose {}", name, fmt::join(names, ", ")));
}

store::Params of_name(const std::string& name) {
  store::Params params;
  params.text(name);
  return params;
}

void require_consumer(store::Session& session, const std::string& name) {
  if (!session.execute(kExists, of_name(name)).boolean(0, 0)) {
    throw ConsumerError(
        fmt::format("there is no consumer '{}': `skua consumers list` shows all", name));
  }
}

/// A transaction of a command about consumers.
class Change {
 public:
  explicit Change(store::Session& session) : transaction_(session) {
    session.execute(kLockConsumers, {});
  }
  void commit() { transaction_.commit(); }

 private:
  store::Transaction transaction_;
};

}  // namespace

void add_consumer(store::Session& session, const NewConsumer& consumer) {
  const Projection& projection = require_projection(consumer.name);
  const std::int16_t lanes = consumer.lanes.value_or(1);
  if (lanes < 1 || lanes > 64 || (lanes & (lanes - 1)) != 0) {
    throw ConsumerError("the number of lanes is a power of two up to 64");
  }
  if (lanes > 1 && !projection.has_lanes) {
    throw ConsumerError(fmt::format("{} has one lane", projection.name));
  }
  if (find_tuning_profile(consumer.profile) == nullptr) {
    std::vector<std::string_view> names;
    for (const Tuning& tuning : tuning_profiles()) names.push_back(tuning.profile);
    throw ConsumerError(fmt::format("there is no profile '{}': choose {}", consumer.profile,
                                    fmt::join(names, ", ")));
  }
  Change change(session);
  if (session.execute(kExists, of_name(consumer.name)).boolean(0, 0)) {
    throw ConsumerError(fmt::format("the consumer '{}' exists already", consumer.name));
  }
  store::Params params;
  params.text(consumer.name).int4(projection.version).int4(lanes).text(consumer.policy);
  params.text(consumer.profile).text(consumer.overrides);
  session.execute(kInsert, params);
  change.commit();
}

void remove_consumer(store::Session& session, const std::string& name) {
  Change change(session);
  require_consumer(session, name);
  if (const Projection* projection = find_projection(name)) hide_tables(session, *projection);
  session.execute(kRetire, of_name(name));
  change.commit();
}

void pause_consumer(store::Session& session, const std::string& name, bool paused) {
  Change change(session);
  require_consumer(session, name);
  store::Params params;
  params.text(name).boolean(paused);
  session.execute(kPause, params);
  change.commit();
}

void request_rebuild(store::Session& session, const Projection& projection) {
  const std::string name(projection.name);
  session.execute(kRetireFailedBuild, of_name(name));
  store::Params params;
  params.text(name).int4(projection.version);
  session.execute(kRebuild, params);
}

void rebuild_consumer(store::Session& session, const std::string& name) {
  Change change(session);
  require_consumer(session, name);
  request_rebuild(session, require_projection(name));
  change.commit();
}

void reset_consumer(store::Session& session, const std::string& name, AfterStop after) {
  Change change(session);
  require_consumer(session, name);
  if (after == AfterStop::Skip) {
    const store::Rows skipped = session.execute(kSkip, of_name(name));
    for (std::size_t i = 0; i < skipped.size(); ++i) {
      write_skipped_change(session, name, skipped.int4(i, 0), skipped.int8(i, 1),
                           std::string(skipped.text(i, 2)));
    }
  }
  if (session.execute(kContinue, of_name(name)).empty()) {
    throw ConsumerError(fmt::format("the consumer '{}' is not stopped", name));
  }
  change.commit();
}

std::vector<Consumer> read_consumers(store::Session& session) {
  const store::Rows rows = session.execute(kList, {});
  std::vector<Consumer> consumers;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (consumers.empty() || consumers.back().id != rows.int4(i, 0)) {
      Consumer& consumer = consumers.emplace_back();
      consumer.id = rows.int4(i, 0);
      consumer.name = rows.text(i, 1);
      consumer.kind = rows.text(i, 2);
      consumer.version = rows.int4(i, 3);
      consumer.role = rows.text(i, 4);
      consumer.state = rows.text(i, 5);
      consumer.paused = rows.boolean(i, 6);
      consumer.policy = rows.text(i, 7);
      consumer.profile = rows.text(i, 8);
      consumer.overrides = rows.text(i, 9);
      consumer.error = rows.text(i, 10);
    }
    if (rows.is_null(i, 11)) continue;
    Consumer& consumer = consumers.back();
    consumer.lanes.push_back({static_cast<std::int16_t>(rows.int4(i, 11)), rows.int8(i, 12),
                              rows.int4(i, 13), std::string(rows.text(i, 14))});
    consumer.behind = std::max(consumer.behind.value_or(0), rows.int8(i, 15));
    const std::chrono::milliseconds lag(rows.is_null(i, 16) ? 0 : rows.int8(i, 16));
    consumer.lag = std::max(consumer.lag.value_or(std::chrono::milliseconds(0)), lag);
  }
  return consumers;
}

}  // namespace skua::feed
