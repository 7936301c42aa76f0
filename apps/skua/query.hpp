#pragma once

#include <optional>
#include <string>
#include <vector>

#include "query_list.hpp"
#include "settings.hpp"

namespace skua::cli {

/// `skua query`.
struct QueryFlags {
  std::vector<std::string> arguments;
  std::optional<std::string> database;
  std::optional<std::string> timeout;
  /// A number or `all`.
  std::optional<std::string> limit;
  bool csv = false;
  bool json = false;
  /// Print the statement instead of running it.
  bool sql = false;
  bool wide = false;
};

/// The name of the query and of its arguments, as on a command line.
std::string usage_of(const NamedQuery& query);
/// Prints all queries. Returns the exit code.
int list_queries();
/// Runs a query. Returns the exit code. Throws UsageError for an argument or limit that does not
/// have its form, std::runtime_error for an account or record that the database does not know, and
/// store::SqlError.
int run_query(const Settings& settings, const NamedQuery& query, const QueryFlags& flags);

}  // namespace skua::cli
