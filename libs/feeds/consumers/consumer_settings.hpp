#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "postgres/session.hpp"

namespace skua::consumers {

/// New values of a consumer. A value that is nothing stays as it is.
struct ConsumerSettings {
  std::optional<std::int16_t> lanes = std::nullopt;
  std::optional<std::string> policy = std::nullopt;
  std::optional<std::string> profile = std::nullopt;
  /// A JSON object that replaces single overrides; null gives a value of the profile back.
  std::string overrides = "{}";

  // The following values are those of leased consumers.
  /// The URL of a webhook.
  std::optional<std::string> url = std::nullopt;
  /// A JSON object with the form of skua.consumers.filter. It replaces the whole filter.
  std::optional<std::string> filter = std::nullopt;
  /// The secret, in the form of skua.consumer_secrets.
  std::optional<std::string> secret = std::nullopt;
};

/// Says how a change takes effect.
struct SettingsResult {
  std::string kind;
  /// True if the tables of the projection are built again, with another number of lanes.
  bool is_rebuilt = false;
};

/// Changes a consumer in one transaction. Its position, its secret and the changes that wait behind
/// dead letters stay, and so do its pause and its failures.
///
/// The lanes of a projection are those of its tables, so another number of lanes requests a
/// rebuild. A lane of a leased consumer that is divided gives its position to its parts. Lanes that
/// are joined continue at the lowest of their positions, so that changes of the others are
/// delivered again, in order. Leases of the former lanes are lost; the new lanes begin when these
/// leases would have ended, so that no two owners have changes of one account. While a failed
/// change stops the consumer or a lane, its lanes stay as they are.
///
/// Throws ConsumerError for values that the kind of the consumer does not have, and
/// postgres::SqlError.
SettingsResult set_consumer(postgres::Session& session, const std::string& name,
                            const ConsumerSettings& settings);

}  // namespace skua::consumers
