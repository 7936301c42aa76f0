#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "base/time.hpp"

namespace skua::status {

/// What a database says of itself and of who fills it: sources with cursor, lag and holder, tables
/// with estimated rows and bytes, the share of account ids in use, accounts and repositories by
/// state, dead letters by reason, the state of history. Reads only, and no table from its beginning
/// to its end, unless it is small. Throws store::SqlError.
nlohmann::json read_status(const std::string& database_url, const Clock& clock);

/// The same for people.
std::string status_text(const nlohmann::json& status);

}  // namespace skua::status
