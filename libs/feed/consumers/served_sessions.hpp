#pragma once

#include <string>

namespace skua::feed {

// The beginnings of the names (store::process_name) of sessions that exist as long as a process
// serves consumers. Consumers are served if such a session is connected to the database.

/// Builds and applies projections.
inline const std::string kProjectionsSession = "skua projections";
/// Sends changes to webhooks. The same processes answer pull consumers.
inline const std::string kWebhooksSession = "skua webhooks";

}  // namespace skua::feed
