#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "base/time.hpp"

namespace skua::status {

/// Reads the state of a database: sources with cursor, lag and process, tables with estimated rows
/// and bytes, accounts and repositories by state, dead letters
/// by reason, consumers and the change log, backfills. Scans small tables only. Throws
/// store::SqlError.
nlohmann::json read_status(const std::string& database_url, const Clock& clock);

/// The same for people.
std::string status_text(const nlohmann::json& status);

}  // namespace skua::status
