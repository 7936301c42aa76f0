#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "consumers/consumer_table.hpp"
#include "consumers/tuning.hpp"
#include "postgres/session.hpp"

namespace skua::consumers {

/// A leased consumer begins with the next change, with the oldest change of the log, or with the
/// change at a position.
struct FromNow {};
struct FromOldest {};
struct FromPosition {
  std::int64_t pos = 0;
};
using FirstChange = std::variant<FromNow, FromOldest, FromPosition>;

struct NewLeasedConsumer {
  std::string name;
  /// The URL of a webhook; empty for a pull consumer.
  std::string url = {};
  /// A JSON object with the form of skua.consumers.filter.
  std::string filter = "{}";
  /// The secret, in the form of skua.consumer_secrets.
  std::string secret = {};
  std::int16_t lanes = 1;
  std::string policy = "pause";
  std::string profile = "default";
  /// A JSON object with the form that Tuning describes.
  std::string overrides = "{}";
  /// See LeasedConsumer.
  bool of_network = false;
  FirstChange first = FromNow{};
};

/// A pull consumer or a webhook.
struct LeasedConsumer {
  std::int32_t id = 0;
  std::string name;
  bool is_webhook = false;
  /// The state is `running`, `stopped` or `lagged out`.
  std::string state;
  bool is_paused = false;
  std::string error;
  std::int32_t lanes = 1;
  std::string filter;
  std::string url = {};
  std::string secret = {};
  std::string profile = {};
  std::string overrides = {};
  /// True if a lane or an account waits for its next attempt after a failure.
  bool waits_after_failure = false;
  /// True if the last failure of a lane is a malformed filter.
  bool has_filter_failure = false;
  /// True if the consumer is on each node of a query database, whose `skua serve` serves it.
  bool of_network = false;

  Tuning tuning() const { return tuning_of(profile, overrides); }
};

/// Throws ConsumerError for values that no database allows. Pure.
void check_new(const NewLeasedConsumer& consumer);

// All functions below throw postgres::SqlError. Each runs one transaction.

/// Adds a pull consumer or a webhook. Throws ConsumerError.
void add_leased_consumer(postgres::Session& session, const NewLeasedConsumer& consumer);

/// Moves all lanes to a position and revokes their leases. Waiting changes are deleted, and their
/// dead letters stay. The consumer runs afterwards. Throws ConsumerError.
void move_leased_consumer(postgres::Session& session, const std::string& name,
                          const FirstChange& first);

std::optional<LeasedConsumer> find_leased_consumer(postgres::Session& session,
                                                   const std::string& name);

/// Returns the webhooks that run and are not paused.
std::vector<LeasedConsumer> read_webhooks(postgres::Session& session);

/// Returns the pull consumers that run and are not paused.
std::vector<LeasedConsumer> read_pull_consumers(postgres::Session& session);

/// Returns the consumers that are on each node. `first` has its default.
std::vector<NewLeasedConsumer> read_network_consumers(postgres::Session& session);
/// Returns only their names.
std::vector<std::string> read_network_consumer_names(postgres::Session& session);

/// A move of groups between nodes, as a node that takes part knows it.
struct NodeMove {
  std::int64_t number = 0;
  std::string from;
  /// On the node that gave the groups away: the position after their last change there.
  std::optional<std::int64_t> left_pos;
};
std::vector<NodeMove> read_node_moves(postgres::Session& session);

/// The position of a pull consumer or a webhook. All lanes have the changes before it.
struct LeasedPosition {
  std::string name;
  std::int64_t pos = 0;
};
std::vector<LeasedPosition> read_leased_positions(postgres::Session& session);

}  // namespace skua::consumers
