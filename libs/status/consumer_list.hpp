#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "store/session.hpp"

namespace skua::status {

/// The consumers of the change log: an array of objects with name, state, version, lanes, policy,
/// profile, changes_behind, lag_seconds and error. Throws store::SqlError.
nlohmann::json read_consumer_list(store::Session& session);

/// A line for each consumer, and one for its error. Empty: there are none.
std::string consumer_list_text(const nlohmann::json& consumers);

/// All values of the consumers with this name, a line for each lane included.
std::string consumer_text(const nlohmann::json& consumer);

}  // namespace skua::status
