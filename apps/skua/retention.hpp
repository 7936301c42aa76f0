#pragma once

#include <chrono>
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
/// How long records are kept. Throws UsageError, which names the origin.
inline std::chrono::seconds retention_time(const Found& found) {
  return duration(found, std::chrono::hours(1), std::chrono::seconds(3'155'760'000));
}

// All return the exit code and throw store::SqlError and UsageError.
int retention_list(const Settings& settings, const RetentionFlags& flags);
int retention_set(const Settings& settings, const RetentionFlags& flags);
int retention_remove(const Settings& settings, const RetentionFlags& flags);
/// Removes all rows that are due: a pass through each table, and the rows of excluded accounts.
int retention_apply(const Settings& settings, const RetentionFlags& flags);

}  // namespace skua::cli
