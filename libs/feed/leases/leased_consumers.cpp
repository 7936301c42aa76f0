#include "feed/leases/leased_consumers.hpp"

#include <algorithm>
#include <regex>

#include <fmt/format.h>

#include "feed/consumers/lane_outcome_sql.hpp"
#include "feed/projections/projection.hpp"
#include "feed/leases/leased_consumers.sql.hpp"

namespace skua::feed {
namespace {

using store::Statement;

const Statement kMoveLanes{
    "leased_move_lanes",
    std::string("UPDATE skua.consumer_lanes SET pos = $2::int8, start = $2::int8, epoch = epoch + "
                "1, batch = NULL, is_blocked = false, owner = NULL, lease_until = NULL, leased_end "
                "= NULL, leased_count = NULL, leased_key = NULL, ") +
        kLaneSucceeded + " WHERE consumer_id = $1::int4"};

constexpr const char* kLeasedColumns =
    "SELECT c.id, c.name, c.kind = 'webhook', c.state, c.paused, coalesce(c.error, ''), c.lanes, "
    "c.filter::text, coalesce(s.url, ''), s.secret FROM skua.consumers AS c JOIN "
    "skua.consumer_secrets AS s ON s.consumer_id = c.id WHERE c.role = 'live' ";
const Statement kFindLeased{"leased_find", std::string(kLeasedColumns) + "AND c.name = $1::text"};
const Statement kWebhooks{"leased_webhooks",
                          std::string(kLeasedColumns) +
                              "AND c.kind = 'webhook' AND c.state = 'running' AND NOT c.paused "
                              "ORDER BY c.id"};

LeasedConsumer consumer_at(const store::Rows& rows, std::size_t row) {
  return {.id = rows.int4(row, 0),
          .name = std::string(rows.text(row, 1)),
          .is_webhook = rows.boolean(row, 2),
          .state = std::string(rows.text(row, 3)),
          .is_paused = rows.boolean(row, 4),
          .error = std::string(rows.text(row, 5)),
          .lanes = rows.int4(row, 6),
          .filter = std::string(rows.text(row, 7)),
          .url = std::string(rows.text(row, 8)),
          .secret = std::string(rows.text(row, 9))};
}

std::int64_t position_of(store::Session& session, const FirstChange& first) {
  const store::Rows range = session.execute(sql::leased_range_of_log, {});
  const std::int64_t oldest = range.int8(0, 0);
  const std::int64_t end = range.int8(0, 1);
  if (std::holds_alternative<FromNow>(first)) return end;
  if (std::holds_alternative<FromOldest>(first)) return oldest;
  const std::int64_t pos = std::get<FromPosition>(first).pos;
  if (pos < oldest || pos > end) {
    throw ConsumerError(
        fmt::format("the log has the positions {} to {}, not {}", oldest, end - 1, pos));
  }
  return pos;
}

}  // namespace

void check_new(const NewLeasedConsumer& consumer) {
  static const std::regex kName("[a-z][a-z0-9_]{0,39}");
  if (!std::regex_match(consumer.name, kName)) {
    throw ConsumerError(
        "the name of a consumer has up to 40 lower-case letters, digits and _, and begins with a "
        "letter");
  }
  if (find_projection(consumer.name) != nullptr || consumer.name == "indexer") {
    throw ConsumerError(fmt::format("the name '{}' is reserved", consumer.name));
  }
  check_lanes(consumer.lanes);
  check_profile(consumer.profile);
}

void add_leased_consumer(store::Session& session, const NewLeasedConsumer& consumer) {
  check_new(consumer);
  ConsumerChange change(session);
  refuse_consumer(session, consumer.name);
  const std::int64_t pos = position_of(session, consumer.first);
  store::Params params;
  params.text(consumer.name).text(consumer.url).int4(consumer.lanes).text(consumer.policy);
  params.text(consumer.profile).text(consumer.overrides).text(consumer.filter);
  const std::int32_t id = session.execute(sql::leased_insert, params).int4(0, 0);
  store::Params secret;
  secret.int4(id).text(consumer.secret).text(consumer.url);
  session.execute(sql::leased_insert_secret, secret);
  store::Params lanes;
  lanes.int4(id).int4(consumer.lanes).int8(pos);
  session.execute(sql::leased_insert_lanes, lanes);
  change.commit();
}

void move_leased_consumer(store::Session& session, const std::string& name,
                          const FirstChange& first) {
  ConsumerChange change(session);
  require_consumer(session, name);
  store::Params named;
  named.text(name);
  const store::Rows found = session.execute(kFindLeased, named);
  if (found.empty()) {
    throw ConsumerError(
        fmt::format("{} is a projection: `skua consumers rebuild` builds it again", name));
  }
  store::Params params;
  params.int4(found.int4(0, 0)).int8(position_of(session, first));
  session.execute(kMoveLanes, params);
  store::Params id;
  id.int4(found.int4(0, 0));
  session.execute(sql::leased_forget_waiting, id);
  session.execute(sql::leased_run_again, id);
  change.commit();
}

std::optional<LeasedConsumer> find_leased_consumer(store::Session& session,
                                                   const std::string& name) {
  store::Params params;
  params.text(name);
  const store::Rows rows = session.execute(kFindLeased, params);
  if (rows.empty()) return std::nullopt;
  return consumer_at(rows, 0);
}

std::vector<LeasedConsumer> read_webhooks(store::Session& session) {
  const store::Rows rows = session.execute(kWebhooks, {});
  std::vector<LeasedConsumer> webhooks;
  for (std::size_t i = 0; i < rows.size(); ++i) webhooks.push_back(consumer_at(rows, i));
  return webhooks;
}

}  // namespace skua::feed
