#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "store/session.hpp"

namespace skua::status {

/// Reads the sources of a database, as an array: name, kind, cursor, when it was saved, lag
/// (see lag.hpp), age of the event at the cursor, the process that reads the source, and its last
/// metrics. Throws store::SqlError.
nlohmann::json read_source_list(store::Session& session);

/// The same for people: a line for each source, without the metrics.
std::string source_list_text(const nlohmann::json& sources);

}  // namespace skua::status
