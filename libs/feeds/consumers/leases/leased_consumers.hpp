#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "consumers/consumer_table.hpp"
#include "postgres/session.hpp"

namespace skua::consumers {

/// The first change of a leased consumer: the next one, the oldest that the log has, or the one at
/// a position.
struct FromNow {};
struct FromOldest {};
struct FromPosition {
  std::int64_t pos = 0;
};
using FirstChange = std::variant<FromNow, FromOldest, FromPosition>;

struct NewLeasedConsumer {
  std::string name;
  /// Of a webhook; empty: a pull consumer.
  std::string url = {};
  /// JSON object: see skua.consumers.filter.
  std::string filter = "{}";
  /// As in skua.consumer_secrets.
  std::string secret = {};
  std::int16_t lanes = 1;
  std::string policy = "pause";
  std::string profile = "default";
  /// JSON object: see Tuning.
  std::string overrides = "{}";
  FirstChange first = FromNow{};
};

/// A pull consumer or a webhook.
struct LeasedConsumer {
  std::int32_t id = 0;
  std::string name;
  bool is_webhook = false;
  /// running, stopped or lagged out.
  std::string state;
  bool is_paused = false;
  std::string error;
  std::int32_t lanes = 1;
  std::string filter;
  std::string url = {};
  std::string secret = {};
};

/// Throws ConsumerError for values that no database allows. Pure.
void check_new(const NewLeasedConsumer& consumer);

// All throw postgres::SqlError; each is one transaction.

/// Throws ConsumerError.
void add_leased_consumer(postgres::Session& session, const NewLeasedConsumer& consumer);

/// Moves all lanes to a position and revokes their leases. Changes that wait are forgotten; their
/// dead letters stay. The consumer runs afterwards. Throws ConsumerError.
void move_leased_consumer(postgres::Session& session, const std::string& name,
                          const FirstChange& first);

std::optional<LeasedConsumer> find_leased_consumer(postgres::Session& session,
                                                   const std::string& name);

/// The webhooks that run and are not paused.
std::vector<LeasedConsumer> read_webhooks(postgres::Session& session);

}  // namespace skua::consumers
