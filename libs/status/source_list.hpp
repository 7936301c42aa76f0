#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "store/session.hpp"

namespace skua::status {

/// The sources of a database, an array: name, kind, cursor, when it was saved, lag, the process
/// that reads it, and its last metrics. Throws store::SqlError.
nlohmann::json read_source_list(store::Session& session);

/// The same for people, a line a source, without the metrics.
std::string source_list_text(const nlohmann::json& sources);

}  // namespace skua::status
