#include "consumers/consumer_table.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/log.hpp"
#include "consumers/consumer_replays.hpp"
#include "consumers/consumer_table.sql.hpp"
#include "consumers/own/projection_catalog.hpp"
#include "consumers/projections/projection.hpp"
#include "consumers/projections/projection_tables.hpp"
#include "consumers/tuning.hpp"

namespace skua::consumers {

namespace {

/// A row of consumers_list.
struct ListedLane {
  std::int32_t id;
  std::string name;
  std::string kind;
  std::int32_t version;
  std::string role;
  std::string state;
  bool paused;
  std::string policy;
  std::string profile;
  std::string overrides;
  std::string filter;
  std::string url;
  std::string consumer_error;
  bool is_served;
  bool waits_for_bootstrap;
  std::chrono::milliseconds age;
  std::int64_t letters;
  // The following columns are null if the consumer has no lane.
  std::optional<std::int64_t> behind;
  std::optional<std::chrono::milliseconds> lag;
  std::optional<std::int16_t> lane;
  std::optional<std::int64_t> pos;
  std::optional<std::int64_t> done_pos;
  std::optional<std::int32_t> attempts;
  std::string error;
  std::optional<bool> is_blocked;
  std::int64_t waiting_accounts;
  std::optional<std::chrono::milliseconds> retry_in;
  std::optional<Timestamp> failing_since;
  std::optional<std::chrono::milliseconds> failing_for;
  std::optional<std::int32_t> failures;
  std::string cause;
  bool is_leased;
  bool is_abandoned;
  std::string lease_owner;
  std::optional<Timestamp> lease_until;
  std::optional<std::chrono::milliseconds> lease_ends_in;
  std::string help;
  bool is_own;
  std::int32_t newest_version;
  std::int64_t lease_expiries;
};

/// A row of consumers_undropped.
struct UndroppedConsumer {
  std::int32_t id;
  std::string name;
  std::string kind;
  std::int32_t version;
  std::string policy;
  std::string profile;
  std::string overrides;
  std::string error;
  std::string definition;
};

Consumer consumer_of(const ListedLane& row) {
  return {.id = row.id,
          .name = row.name,
          .kind = row.kind,
          .version = row.version,
          .role = row.role,
          .state = row.state,
          .paused = row.paused,
          .policy = row.policy,
          .profile = row.profile,
          .overrides = row.overrides,
          .filter = row.filter,
          .url = row.url,
          .error = row.consumer_error,
          .lanes = {},
          .behind = std::nullopt,
          .lag = std::nullopt,
          .is_served = row.is_served,
          .waits_for_bootstrap = row.waits_for_bootstrap,
          .has_successor = false,
          .age = row.age,
          .letters = row.letters,
          .help = row.help,
          .is_own = row.is_own,
          .newest_version = row.newest_version};
}

ConsumerLane lane_of(const ListedLane& row) {
  return {.lane = row.lane.value_or(0),
          .pos = row.pos.value_or(0),
          .done_pos = row.done_pos.value_or(0),
          .attempts = row.attempts.value_or(0),
          .error = row.error,
          .is_blocked = row.is_blocked.value_or(false),
          .waiting_accounts = row.waiting_accounts,
          .retry_in = row.retry_in,
          .failing_since = row.failing_since,
          .failing_for = row.failing_for.value_or(std::chrono::milliseconds(0)),
          .failures = row.failures.value_or(0),
          .cause = failure_cause(row.cause),
          .is_leased = row.is_leased,
          .lease_owner = row.lease_owner,
          .lease_until = row.lease_until,
          .lease_ends_in = row.lease_ends_in,
          .is_abandoned = row.is_abandoned,
          .lease_expiries = row.lease_expiries,
          .behind = row.behind.value_or(0)};
}

/// A row of consumers_skip.
struct SkippedChange {
  std::int32_t lane;
  std::string error;
};

ProjectionRef require_projection(postgres::Session& session, const std::string& name) {
  if (ProjectionRef projection = newest_projection(session, name)) return projection;
  throw UnknownProjection(
      fmt::format("there is no projection '{}': choose {}, or give --webhook or --pull", name,
                  fmt::join(projection_names(session), ", ")));
}

/// Returns the hash of the text of a user; empty for a built-in projection.
std::string definition_of(const Projection& projection) {
  return projection.own ? projection.own->sha256 : std::string();
}

void check_lanes_of(const Projection& projection, const NewConsumer& consumer) {
  if (consumer.lanes.value_or(1) == 1 || projection.has_lanes) return;
  throw ConsumerError(fmt::format("{} has one lane", projection.name));
}

bool exists(postgres::Session& session, const std::string& name) {
  return session.query_one<bool>(sql::consumers_exists, name);
}

}  // namespace

void check_new(const NewConsumer& consumer) {
  check_lanes(consumer.lanes.value_or(1));
  if (const Projection* built_in = find_projection(consumer.name)) {
    check_lanes_of(*built_in, consumer);
  }
  if (consumer.policy == "block_key") {
    throw ConsumerError("the policy block_key is for webhooks and pull consumers");
  }
  check_profile(consumer.profile);
  check_overrides("projection", consumer.overrides);
}

namespace {

/// Throws ConsumerError for a built-in projection that reads records of other accounts in a
/// database that does not have these.
void refuse_on_node(postgres::Session& session, const std::string& name) {
  if (find_projection(name) == nullptr) return;
  if (!session.query_one<bool>(sql::consumers_need_other_nodes, name)) return;
  throw ConsumerError(
      fmt::format("{} reads records of accounts of other nodes, which this node does not have: the "
                  "query database computes it, and you need not add it",
                  name));
}

}  // namespace

void add_consumer(postgres::Session& session, const NewConsumer& consumer) {
  check_new(consumer);
  const std::int16_t lanes = consumer.lanes.value_or(1);
  ConsumerChange change(session);
  const ProjectionRef projection = require_projection(session, consumer.name);
  check_lanes_of(*projection, consumer);
  refuse_on_node(session, consumer.name);
  refuse_consumer(session, consumer.name);
  session.execute(sql::consumers_insert, consumer.name, projection->version, std::int32_t{lanes},
                  consumer.policy, consumer.profile, consumer.overrides,
                  definition_of(*projection));
  change.commit();
}

void remove_consumer(postgres::Session& session, const std::string& name) {
  with_publication([&](Publication publication) {
    ConsumerChange change(session);
    require_consumer(session, name);
    const ProjectionRef projection = used_projection(session, name);
    const auto former = projection != nullptr ? lock_published(session, *projection) : std::nullopt;
    if (projection != nullptr) hide_tables(session, *projection);
    session.execute(sql::consumers_retire, name);
    if (former && publication == Publication::Differences) {
      publish_tables(session, *projection, former, std::nullopt);
    } else if (former) {
      rebuild_dependents(session, *projection);
    }
    change.commit();
  });
}

void pause_consumer(postgres::Session& session, const std::string& name) {
  ConsumerChange change(session);
  require_consumer(session, name);
  session.execute(sql::consumers_pause, name);
  change.commit();
}

void resume_consumer(postgres::Session& session, const std::string& name) {
  ConsumerChange change(session);
  require_consumer(session, name);
  session.execute(sql::consumers_resume, name);
  session.execute(sql::consumers_retry_lanes, name);
  session.execute(sql::consumers_retry_waiting, name);
  change.commit();
}

void request_rebuild(postgres::Session& session, const std::string& name) {
  const ProjectionRef projection = require_projection(session, name);
  session.execute(sql::consumers_retire_failed_build, name, definition_of(*projection));
  session.execute(sql::consumers_rebuild, name, projection->version, definition_of(*projection),
                  projection->has_lanes);
}

void rebuild_dependents(postgres::Session& session, const Projection& projection) {
  for (const Projection& one : projections()) {
    if (std::ranges::find(one.depends_on, projection.name) == one.depends_on.end()) continue;
    if (!session.query_one<bool>(sql::consumers_is_live, one.name)) continue;
    logger("feed")->warn("{}: rebuilt, because the former tables of {} cannot be read", one.name,
                         projection.name);
    request_rebuild(session, one.name);
  }
}

void rebuild_consumer(postgres::Session& session, const std::string& name) {
  ConsumerChange change(session);
  require_consumer(session, name);
  request_rebuild(session, name);
  change.commit();
}

void reset_consumer(postgres::Session& session, const std::string& name) {
  ConsumerChange change(session);
  require_consumer(session, name);
  if (session.execute(sql::consumers_continue, name).empty()) {
    throw NotStopped(fmt::format("the consumer '{}' is not stopped", name));
  }
  change.commit();
}

void skip_change(postgres::Session& session, const std::string& name, std::int64_t position,
                 const ReadLetterEvent& read_event) {
  ConsumerChange change(session);
  require_consumer(session, name);
  const auto skipped = session.query<SkippedChange>(sql::consumers_skip, name, position);
  if (skipped.empty()) {
    throw ConsumerError(fmt::format(
        "no change at position {} stopped the consumer '{}': `skua consumers status {}` "
        "shows what it waits for",
        position, name, name));
  }
  for (const auto& [lane, error] : skipped) {
    write_skipped_change(session, name, lane, position, error, read_event);
  }
  session.execute(sql::consumers_run_again, name);
  change.commit();
}

void set_consumer_state(postgres::Session& session, std::int32_t consumer_id,
                        const std::string& state, const std::string& error) {
  session.execute(sql::consumers_set_state, consumer_id, state, error);
}

std::vector<Consumer> read_consumers(postgres::Session& session) {
  std::vector<Consumer> consumers;
  for (const ListedLane& row :
       session.query<ListedLane>(sql::consumers_list, kProjectionsSession, kWebhooksSession)) {
    if (consumers.empty() || consumers.back().id != row.id) {
      consumers.push_back(consumer_of(row));
      if (row.role == "next" && consumers.size() > 1) {
        Consumer& other = consumers[consumers.size() - 2];
        other.has_successor = other.name == row.name;
      }
    }
    if (!row.lane) continue;
    Consumer& consumer = consumers.back();
    consumer.lanes.push_back(lane_of(row));
    consumer.behind = std::max(consumer.behind.value_or(0), row.behind.value_or(0));
    consumer.lag = std::max(consumer.lag.value_or(std::chrono::milliseconds(0)),
                            row.lag.value_or(std::chrono::milliseconds(0)));
  }
  return consumers;
}

std::vector<Consumer> read_all_consumers(postgres::Session& session) {
  std::vector<Consumer> consumers = read_consumers(session);
  for (UndroppedConsumer& row : session.query<UndroppedConsumer>(sql::consumers_undropped)) {
    Consumer& consumer = consumers.emplace_back();
    consumer.id = row.id;
    consumer.name = std::move(row.name);
    consumer.kind = std::move(row.kind);
    consumer.version = row.version;
    consumer.policy = std::move(row.policy);
    consumer.profile = std::move(row.profile);
    consumer.overrides = std::move(row.overrides);
    consumer.role = "retired";
    consumer.state = "running";
    consumer.error = std::move(row.error);
    consumer.dependents = dependents_of_tables(session, consumer.name, row.definition, consumer.id);
  }
  return consumers;
}

ConsumerChange::ConsumerChange(postgres::Session& session) : transaction_(session) {
  session.execute(sql::consumers_lock);
}

void check_lanes(std::int16_t lanes) {
  if (lanes < 1 || lanes > 64 || (lanes & (lanes - 1)) != 0) {
    throw ConsumerError("the number of lanes is a power of two up to 64");
  }
}

void check_profile(const std::string& profile) {
  if (find_tuning_profile(profile) != nullptr) return;
  std::vector<std::string_view> names;
  for (const Tuning& tuning : tuning_profiles()) names.push_back(tuning.profile);
  throw ConsumerError(
      fmt::format("there is no profile '{}': choose {}", profile, fmt::join(names, ", ")));
}

void check_overrides(std::string_view kind, const std::string& overrides) {
  const auto key = unknown_override(kind, overrides);
  if (!key) return;
  throw ConsumerError(
      fmt::format("{} is not a value of a {}", *key,
                  kind == "pull" ? std::string("pull consumer") : std::string(kind)));
}

void require_consumer(postgres::Session& session, const std::string& name) {
  if (exists(session, name)) return;
  throw ConsumerError(
      fmt::format("there is no consumer '{}': `skua consumers list` shows all", name));
}

void refuse_consumer(postgres::Session& session, const std::string& name) {
  if (!exists(session, name)) return;
  throw ConsumerError(fmt::format("the consumer '{}' exists already", name));
}

}  // namespace skua::consumers
