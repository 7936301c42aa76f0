#pragma once

#include <optional>
#include <string>

#include "settings.hpp"

namespace skua::cli {

/// The database that `--database` or a setting names, else UsageError. Also UsageError, without
/// the password, when it is malformed; nothing is connected to.
std::string require_database(const Settings& settings, const std::optional<std::string>& flag);

/// The same, where a command works without a database: nothing when none is named.
std::optional<std::string> find_database(const Settings& settings,
                                         const std::optional<std::string>& flag);

}  // namespace skua::cli
