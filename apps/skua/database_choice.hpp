#pragma once

#include <optional>
#include <string>

#include "app/database.hpp"
#include "settings.hpp"

namespace skua::cli {

/// The database that `--database` or a setting names. Throws UsageError if there is none, or,
/// without the password, if it is malformed. Does not connect.
std::string require_database(const Settings& settings, const std::optional<std::string>& flag);

/// The same for commands that also work without a database: nothing if none is named.
std::optional<std::string> find_database(const Settings& settings,
                                         const std::optional<std::string>& flag);

/// Whether the server must keep committed data: yes, unless the flag or a setting permits
/// otherwise.
app::Durability durability(const Settings& settings, bool allow_unsafe_database);

}  // namespace skua::cli
