#pragma once

#include <optional>
#include <string>
#include <vector>

#include "settings.hpp"

namespace skua::cli {

/// `skua query`.
struct QueryFlags {
  std::string name;  // empty: list the queries
  std::vector<std::string> arguments;
  std::optional<std::string> database;
  std::optional<std::string> timeout;
  bool csv = false;
  bool json = false;
};
/// Runs a query of docs/queries.md, or lists all of them. Throws UsageError for an unknown name or
/// a wrong number of arguments, and store::SqlError.
int query(const Settings& settings, const QueryFlags& flags);

}  // namespace skua::cli
