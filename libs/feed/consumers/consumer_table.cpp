#include "feed/consumers/consumer_table.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/log.hpp"
#include "feed/consumers/consumer_replays.hpp"
#include "feed/consumers/lane_outcome_sql.hpp"
#include "feed/consumers/publication.hpp"
#include "feed/consumers/served_sessions.hpp"
#include "feed/projections/projection.hpp"
#include "feed/projections/projection_tables.hpp"
#include "feed/consumers/consumer_table.sql.hpp"

namespace skua::feed {
namespace {

using store::Statement;

const Statement kContinue{
    "consumers_continue",
    std::string("WITH halted AS (SELECT c.id FROM skua.consumers AS c WHERE c.name = $1::text AND "
                "c.role <> 'retired' AND (c.state = 'stopped' OR EXISTS (SELECT FROM "
                "skua.consumer_lanes AS b WHERE b.consumer_id = c.id AND b.is_blocked))), "
                "continued AS (UPDATE skua.consumers AS c SET state = 'running', error = NULL FROM "
                "halted AS h WHERE c.id = h.id AND c.state = 'stopped') UPDATE skua.consumer_lanes "
                "AS l SET batch = NULL, is_blocked = false, epoch = l.epoch + 1, owner = NULL, "
                "lease_until = NULL, leased_end = NULL, leased_count = NULL, leased_key = NULL, ") +
        kLaneSucceeded + " FROM halted AS h WHERE h.id = l.consumer_id RETURNING 1"};

std::string session_exists(const std::string& name) {
  return "EXISTS (SELECT FROM pg_stat_activity AS s WHERE s.datname = current_database() AND "
         "starts_with(s.application_name, '" +
         name + " '))";
}

const Statement kList{
    "consumers_list",
    "SELECT c.id, c.name, c.kind, c.version, c.role, c.state, c.paused, c.policy, c.profile, "
    "c.overrides::text, coalesce(c.error, ''), l.lane, l.pos, l.attempts, coalesce(l.error, ''), "
    "e.log_end - least(l.pos, l.waiting_pos), CASE WHEN least(l.pos, l.waiting_pos) < e.log_end "
    "THEN (extract(epoch FROM clock_timestamp() - (SELECT b.at FROM skua.change_log AS b WHERE "
    "b.pos <= least(l.pos, l.waiting_pos) ORDER BY b.pos DESC LIMIT 1)) * 1000)::int8 ELSE 0 END, "
    "l.is_blocked, (SELECT count(*) FROM skua.waiting_changes AS w WHERE "
    "w.consumer_id = l.consumer_id AND w.lane = l.lane AND w.until IS NULL), c.filter::text, "
    "coalesce(c.url, ''), CASE WHEN c.kind = 'projection' THEN e.has_projections ELSE "
    "e.has_webhooks END, e.has_bootstrap, (extract(epoch FROM clock_timestamp() - c.created_at) * "
    "1000)::int8, l.failing_since, (extract(epoch FROM clock_timestamp() - l.failing_since) * "
    "1000)::int8, l.failures, coalesce(l.cause, ''), coalesce(l.lease_until > clock_timestamp(), "
    "false), coalesce(l.lease_until < clock_timestamp() - interval '1 minute', false), CASE WHEN "
    "l.retry_at > clock_timestamp() THEN (extract(epoch FROM l.retry_at - clock_timestamp()) * "
    "1000)::int8 END, least(l.pos, l.waiting_pos) FROM (SELECT "
    "skua.change_log_end() AS log_end, EXISTS (SELECT FROM skua.dropped_indexes) AS "
    "has_bootstrap, " +
        session_exists(kProjectionsSession) + " AS has_projections, " +
        session_exists(kWebhooksSession) +
        " AS has_webhooks) AS e CROSS JOIN skua.consumers AS c LEFT JOIN skua.consumer_lanes AS l "
        "ON l.consumer_id = c.id WHERE c.role <> 'retired' ORDER BY c.name, c.role, c.id, l.lane"};

ConsumerLane lane_of(const store::Rows& rows, std::size_t i) {
  ConsumerLane lane{.lane = static_cast<std::int16_t>(rows.int4(i, 11)),
                    .pos = rows.int8(i, 12),
                    .attempts = rows.int4(i, 13),
                    .error = std::string(rows.text(i, 14)),
                    .is_blocked = rows.boolean(i, 17),
                    .waiting_accounts = rows.int8(i, 18)};
  if (!rows.is_null(i, 24)) {
    lane.failing_since = rows.timestamp(i, 24);
    lane.failing_for = std::chrono::milliseconds(rows.int8(i, 25));
  }
  lane.failures = rows.int4(i, 26);
  lane.cause = failure_cause(rows.text(i, 27));
  lane.is_leased = rows.boolean(i, 28);
  lane.is_abandoned = rows.boolean(i, 29);
  if (!rows.is_null(i, 30)) lane.retry_in = std::chrono::milliseconds(rows.int8(i, 30));
  lane.done_pos = rows.int8(i, 31);
  return lane;
}

const Projection& require_projection(const std::string& name) {
  if (const Projection* projection = find_projection(name)) return *projection;
  std::vector<std::string_view> names;
  for (const Projection* one : projections()) names.push_back(one->name);
  throw ConsumerError(
      fmt::format("there is no projection '{}': choose {}, or give --webhook or --pull", name,
                  fmt::join(names, ", ")));
}

store::Params of_name(const std::string& name) {
  store::Params params;
  params.text(name);
  return params;
}

}  // namespace

void check_new(const NewConsumer& consumer) {
  const Projection& projection = require_projection(consumer.name);
  const std::int16_t lanes = consumer.lanes.value_or(1);
  check_lanes(lanes);
  if (consumer.policy == "block_key") {
    throw ConsumerError("the policy block_key is for webhooks and pull consumers");
  }
  if (lanes > 1 && !projection.has_lanes) {
    throw ConsumerError(fmt::format("{} has one lane", projection.name));
  }
  check_profile(consumer.profile);
}

void add_consumer(store::Session& session, const NewConsumer& consumer) {
  check_new(consumer);
  const Projection& projection = require_projection(consumer.name);
  const std::int16_t lanes = consumer.lanes.value_or(1);
  ConsumerChange change(session);
  refuse_consumer(session, consumer.name);
  store::Params params;
  params.text(consumer.name).int4(projection.version).int4(lanes).text(consumer.policy);
  params.text(consumer.profile).text(consumer.overrides);
  session.execute(sql::consumers_insert, params);
  change.commit();
}

void remove_consumer(store::Session& session, const std::string& name) {
  const Projection* projection = find_projection(name);
  with_publication([&](Publication publication) {
    ConsumerChange change(session);
    require_consumer(session, name);
    const auto former = projection != nullptr ? lock_published(session, *projection) : std::nullopt;
    if (projection != nullptr) hide_tables(session, *projection);
    session.execute(sql::consumers_retire, of_name(name));
    if (former && publication == Publication::Differences) {
      publish_tables(session, *projection, former, std::nullopt);
    } else if (former) {
      rebuild_dependents(session, *projection);
    }
    change.commit();
  });
}

void pause_consumer(store::Session& session, const std::string& name, bool paused) {
  ConsumerChange change(session);
  require_consumer(session, name);
  store::Params params;
  params.text(name).boolean(paused);
  session.execute(sql::consumers_pause, params);
  change.commit();
}

void request_rebuild(store::Session& session, const Projection& projection) {
  const std::string name(projection.name);
  session.execute(sql::consumers_retire_failed_build, of_name(name));
  store::Params params;
  params.text(name).int4(projection.version);
  session.execute(sql::consumers_rebuild, params);
}

void rebuild_dependents(store::Session& session, const Projection& projection) {
  for (const Projection* one : projections()) {
    if (std::ranges::find(one->depends_on, projection.name) == one->depends_on.end()) continue;
    if (!session.execute(sql::consumers_is_live, of_name(std::string(one->name))).boolean(0, 0)) continue;
    logger("feed")->warn("{}: rebuilt, because the former tables of {} cannot be read", one->name,
                         projection.name);
    request_rebuild(session, *one);
  }
}

void rebuild_consumer(store::Session& session, const std::string& name) {
  ConsumerChange change(session);
  require_consumer(session, name);
  request_rebuild(session, require_projection(name));
  change.commit();
}

void reset_consumer(store::Session& session, const std::string& name, AfterStop after) {
  ConsumerChange change(session);
  require_consumer(session, name);
  if (after == AfterStop::Skip) {
    const store::Rows skipped = session.execute(sql::consumers_skip, of_name(name));
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

void set_consumer_state(store::Session& session, std::int32_t consumer_id, const std::string& state,
                        const std::string& error) {
  store::Params params;
  params.int4(consumer_id).text(state).text(error);
  session.execute(sql::consumers_set_state, params);
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
      consumer.filter = rows.text(i, 19);
      consumer.url = rows.text(i, 20);
      consumer.is_served = rows.boolean(i, 21);
      consumer.waits_for_bootstrap = rows.boolean(i, 22);
      consumer.age = std::chrono::milliseconds(rows.int8(i, 23));
      if (consumer.role == "next" && consumers.size() > 1) {
        Consumer& other = consumers[consumers.size() - 2];
        other.has_successor = other.name == consumer.name;
      }
    }
    if (rows.is_null(i, 11)) continue;
    Consumer& consumer = consumers.back();
    consumer.lanes.push_back(lane_of(rows, i));
    consumer.behind = std::max(consumer.behind.value_or(0), rows.int8(i, 15));
    const std::chrono::milliseconds lag(rows.is_null(i, 16) ? 0 : rows.int8(i, 16));
    consumer.lag = std::max(consumer.lag.value_or(std::chrono::milliseconds(0)), lag);
  }
  return consumers;
}

}  // namespace skua::feed
