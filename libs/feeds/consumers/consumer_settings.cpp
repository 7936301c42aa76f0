#include "consumers/consumer_settings.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "consumers/consumer_settings.sql.hpp"
#include "consumers/consumer_table.hpp"
#include "consumers/leases/lease.hpp"
#include "consumers/projections/projection.hpp"
#include "consumers/tuning.hpp"

namespace skua::consumers {

namespace {

/// A row of settings_find.
struct ChangedConsumer {
  std::int32_t id;
  std::string kind;
  std::int32_t lanes;
  std::string policy;
  /// True if a failed change stopped the consumer or a lane.
  bool is_halted;
};

void check_kind(const std::string& name, const ChangedConsumer& consumer,
                const ConsumerSettings& settings) {
  const bool is_projection = consumer.kind == "projection";
  if (is_projection && (settings.filter || settings.secret)) {
    throw ConsumerError(
        fmt::format("{} is a projection: it reads all changes, and has no secret", name));
  }
  if (settings.url && consumer.kind != "webhook") {
    throw ConsumerError(fmt::format("{} is no webhook: it has no URL", name));
  }
  if (is_projection && settings.policy == "block_key") {
    throw ConsumerError("the policy block_key is for webhooks and pull consumers");
  }
  check_overrides(consumer.kind, settings.overrides);
}

/// Builds the tables of a projection again, with another number of lanes.
void rebuild_with_lanes(postgres::Session& session, const std::string& name,
                        const ChangedConsumer& consumer, std::int32_t lanes) {
  const Projection* const projection = find_projection(name);
  if (projection == nullptr) {
    throw ConsumerError(fmt::format("this version of skua does not have {}", name));
  }
  if (lanes > 1 && !projection->has_lanes) {
    throw ConsumerError(fmt::format("{} has one lane", name));
  }
  session.execute(sql::settings_retire_next, name);
  session.execute(sql::settings_rebuild, consumer.id, projection->version, lanes);
}

/// Divides or joins the lanes of a leased consumer.
void move_lanes(postgres::Session& session, const std::string& name,
                const ChangedConsumer& consumer, std::int32_t lanes) {
  // A session that answers a lease holds the lock of its lane before it changes waiting changes.
  session.execute(sql::settings_lock_lanes, consumer.id);
  session.execute(sql::settings_lock_waiting);
  if (session.query_one<ChangedConsumer>(sql::settings_find, name).is_halted) {
    throw ConsumerError(fmt::format(
        "a failed change stopped {0}: `skua consumers reset {0}` first, then change its lanes",
        name));
  }
  session.execute(sql::settings_change_lanes, consumer.id, lanes);
  session.execute(sql::settings_move_lanes, consumer.id, lanes, std::min(lanes, consumer.lanes));
  session.execute(sql::settings_move_waiting, consumer.id, lanes);
  session.execute(sql::settings_move_letters, name, lanes);
}

}  // namespace

SettingsResult set_consumer(postgres::Session& session, const std::string& name,
                            const ConsumerSettings& settings) {
  if (settings.lanes) check_lanes(*settings.lanes);
  if (settings.profile) check_profile(*settings.profile);
  ConsumerChange change(session);
  require_consumer(session, name);
  const auto consumer = session.query_one<ChangedConsumer>(sql::settings_find, name);
  check_kind(name, consumer, settings);
  SettingsResult result{.kind = consumer.kind};
  session.execute(sql::settings_change, name, settings.policy, settings.profile, settings.overrides,
                  settings.filter);
  if (settings.filter) note_filter_works(session, consumer.id);
  if (settings.url) session.execute(sql::settings_change_url, consumer.id, *settings.url);
  if (settings.url || settings.secret) {
    session.execute(sql::settings_change_secret, consumer.id, settings.secret, settings.url);
    session.execute(sql::settings_retry, consumer.id);
  }
  const std::int32_t lanes = settings.lanes.value_or(static_cast<std::int16_t>(consumer.lanes));
  if (lanes != consumer.lanes && consumer.kind == "projection") {
    rebuild_with_lanes(session, name, consumer, lanes);
    result.is_rebuilt = true;
  } else if (lanes != consumer.lanes) {
    move_lanes(session, name, consumer, lanes);
  }
  change.commit();
  return result;
}

}  // namespace skua::consumers
