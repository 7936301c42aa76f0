#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "query_list.hpp"

namespace skua::cli {

/// An argument of queries. Its name in docs/queries.md determines its form.
struct QueryArgument {
  std::string_view name;
  /// What it names: "an account".
  std::string_view meaning;
  /// How: "a DID, a handle, or the bsky.app URL of a profile".
  std::string_view form;
  std::string_view example;
  /// The value as queries take it. Nothing: it does not have the form.
  std::optional<std::string> (*read)(std::string_view text);
};

/// Throws std::out_of_range for a name that no query may use.
const QueryArgument& query_argument(std::string_view name);

/// The meaning and the form, for help: "An account: a DID..."
std::string argument_help(const QueryArgument& argument);

/// The name as help shows it: "ACCOUNT".
std::string shown_name(std::string_view argument);

/// The values of the arguments of a query. Throws UsageError for one that does not have its form.
std::vector<std::string> read_arguments(const NamedQuery& query,
                                        const std::vector<std::string>& texts);

}  // namespace skua::cli
