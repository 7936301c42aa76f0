#pragma once

#include <optional>
#include <string>

#include "app/database.hpp"
#include "settings.hpp"

namespace skua::cli {

/// The database that `--database` or a setting names, else UsageError. Also UsageError, without
/// the password, when it is malformed; nothing is connected to.
std::string require_database(const Settings& settings, const std::optional<std::string>& flag);

/// The same, where a command works without a database: nothing when none is named.
std::optional<std::string> find_database(const Settings& settings,
                                         const std::optional<std::string>& flag);

/// Whether the server must keep what is committed: unless the flag or a setting allows another one.
app::Durability durability(const Settings& settings, bool allow_unsafe_database);

}  // namespace skua::cli
