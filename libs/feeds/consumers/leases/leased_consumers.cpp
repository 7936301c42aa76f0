#include "consumers/leases/leased_consumers.hpp"

#include <algorithm>
#include <regex>

#include <fmt/format.h>

#include "consumers/leases/leased_consumers.sql.hpp"
#include "consumers/projections/projection.hpp"

namespace skua::consumers {
namespace {

/// A row of leased_of_network.
struct NetworkConsumer {
  std::string name;
  std::string url;
  std::string filter;
  std::string secret;
  std::int16_t lanes;
  std::string policy;
  std::string profile;
  std::string overrides;
};

struct LogRange {
  std::int64_t oldest;
  std::int64_t end;
};

std::int64_t position_of(postgres::Session& session, const FirstChange& first) {
  const auto [oldest, end] = session.query_one<LogRange>(sql::leased_range_of_log);
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
  check_overrides(consumer.url.empty() ? "pull" : "webhook", consumer.overrides);
}

void add_leased_consumer(postgres::Session& session, const NewLeasedConsumer& consumer) {
  check_new(consumer);
  ConsumerChange change(session);
  refuse_consumer(session, consumer.name);
  const std::int64_t pos = position_of(session, consumer.first);
  const auto id = session.query_one<std::int32_t>(
      sql::leased_insert, consumer.name, consumer.url, std::int32_t{consumer.lanes},
      consumer.policy, consumer.profile, consumer.overrides, consumer.filter, consumer.of_network);
  session.execute(sql::leased_insert_secret, id, consumer.secret, consumer.url);
  session.execute(sql::leased_insert_lanes, id, std::int32_t{consumer.lanes}, pos);
  change.commit();
}

void move_leased_consumer(postgres::Session& session, const std::string& name,
                          const FirstChange& first) {
  ConsumerChange change(session);
  require_consumer(session, name);
  const auto found = session.query_first<LeasedConsumer>(sql::leased_find, name);
  if (!found) {
    throw ConsumerError(
        fmt::format("{} is a projection: `skua consumers rebuild` builds it again", name));
  }
  session.execute(sql::leased_move_lanes, found->id, position_of(session, first));
  session.execute(sql::leased_forget_waiting, found->id);
  session.execute(sql::leased_run_again, found->id);
  change.commit();
}

std::optional<LeasedConsumer> find_leased_consumer(postgres::Session& session,
                                                   const std::string& name) {
  return session.query_first<LeasedConsumer>(sql::leased_find, name);
}

std::vector<LeasedConsumer> read_webhooks(postgres::Session& session) {
  return session.query<LeasedConsumer>(sql::leased_webhooks);
}

std::vector<LeasedConsumer> read_pull_consumers(postgres::Session& session) {
  return session.query<LeasedConsumer>(sql::leased_pull_consumers);
}

std::vector<NewLeasedConsumer> read_network_consumers(postgres::Session& session) {
  std::vector<NewLeasedConsumer> all;
  for (auto& row : session.query<NetworkConsumer>(sql::leased_of_network)) {
    all.push_back({.name = std::move(row.name),
                   .url = std::move(row.url),
                   .filter = std::move(row.filter),
                   .secret = std::move(row.secret),
                   .lanes = row.lanes,
                   .policy = std::move(row.policy),
                   .profile = std::move(row.profile),
                   .overrides = std::move(row.overrides),
                   .of_network = true});
  }
  return all;
}

std::vector<std::string> read_network_consumer_names(postgres::Session& session) {
  return session.query<std::string>(sql::leased_names_of_network);
}

std::vector<NodeMove> read_node_moves(postgres::Session& session) {
  return session.query<NodeMove>(sql::leased_moves);
}

std::vector<LeasedPosition> read_leased_positions(postgres::Session& session) {
  return session.query<LeasedPosition>(sql::leased_positions);
}

}  // namespace skua::consumers
