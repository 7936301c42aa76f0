#pragma once

#include <optional>
#include <string>

#include "settings.hpp"

namespace skua::cli {

/// `skua retention`.
struct RetentionFlags {
  std::string collection;
  std::string keep;
  std::optional<std::string> database;
  bool json = false;
};
// All return the exit code and throw store::SqlError and UsageError.
int retention_list(const Settings& settings, const RetentionFlags& flags);
int retention_set(const Settings& settings, const RetentionFlags& flags);
int retention_remove(const Settings& settings, const RetentionFlags& flags);
/// Removes all rows that are due: a pass through each table, and the rows of excluded accounts.
int retention_apply(const Settings& settings, const RetentionFlags& flags);

}  // namespace skua::cli
