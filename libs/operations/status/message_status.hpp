#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "base/metric.hpp"
#include "consumers/messages/message_inbox.hpp"
#include "postgres/session.hpp"

namespace skua::status {

/// Returns the metrics of the inbox of own messages.
std::vector<MetricValue> values_of_inbox(const consumers::InboxState& inbox);

/// Reads the inbox of own messages: `waiting`, the number of messages that are not in the change
/// log yet, counted up to InboxState::kMostCounted, and `oldest_seconds`, the age of the oldest one
/// (null if none waits). Needs only the rights of skua_reader. Throws postgres::SqlError.
nlohmann::json read_message_status(postgres::Session& session);

/// Returns a part of `skua status`; empty if no message waits.
std::string message_status_text(const nlohmann::json& messages);

}  // namespace skua::status
