#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skua::cli {

/// A query of docs/queries.md.
struct NamedQuery {
  std::string name;
  std::string group;  // the heading of its section
  std::string title;
  /// In the order of their first use.
  std::vector<std::string> arguments;
  /// Without the final semicolon. The arguments are $1, $2... of type text.
  std::string sql;
};

/// docs/queries.md, which the build embeds.
std::string_view queries_document();

/// The queries of a document in their order: each block ```sql whose first line is `-- NAME`. The
/// arguments are the variables of psql in it, such as :'account'.
std::vector<NamedQuery> parse_queries(std::string_view document);

/// The queries of queries_document(), parsed once.
const std::vector<NamedQuery>& named_queries();
/// Nothing: no query has this name.
const NamedQuery* find_query(std::string_view name);

}  // namespace skua::cli
