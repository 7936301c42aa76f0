#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skua::cli {

/// What a query reads that may be missing from a database.
struct QueryNeed {
  enum class Kind : std::uint8_t { Projection, Index, Labels };
  Kind kind = Kind::Projection;
  /// Of the projection, or of the optional index.
  std::string name;
  /// How the answer is incomplete without it: "there are no rows".
  std::string without;
};

/// A query of docs/queries.md.
struct NamedQuery {
  std::string name;
  std::string group;  // the heading of its section
  std::string title;
  /// The text between title and statement, in one line; may be empty.
  std::string description;
  /// In the order of their first use.
  std::vector<std::string> arguments;
  std::vector<QueryNeed> needs;
  /// The number of rows that the statement returns at most.
  std::optional<std::int64_t> limit;
  /// The statement as in the document, without the final semicolon: see StatementPart.
  std::string statement;
};

/// docs/queries.md, which the build embeds.
std::string_view queries_document();

/// The queries of a document in their order: each block ```sql whose first line is `-- NAME`. The
/// arguments are the variables of psql in it, such as :'account'. The next lines may be `-- needs
/// projection NAME; without it, EFFECT`, `-- needs index NAME; without it, EFFECT` and `-- needs
/// labels; without them, EFFECT`. Throws std::invalid_argument for another need.
std::vector<NamedQuery> parse_queries(std::string_view document);

/// The queries of queries_document(), parsed once.
const std::vector<NamedQuery>& named_queries();
/// Nothing: no query has this name.
const NamedQuery* find_query(std::string_view name);

/// A part of a statement of docs/queries.md. Views into the statement.
struct StatementPart {
  enum class Kind : std::uint8_t {
    Text,
    /// `:'account'`: `text` is the name.
    Argument,
    /// `/*limit*/ 50`: `text` is the number.
    Limit
  };
  Kind kind = Kind::Text;
  std::string_view text;
};
std::vector<StatementPart> parts_of(std::string_view statement);

/// The statement with the parameters $1, $2... of type text as its arguments. It returns at most
/// `limit` rows; nothing: all.
std::string statement_with_parameters(const NamedQuery& query, std::optional<std::int64_t> limit);

/// The same with the values of the arguments as literals, for psql: with a semicolon.
std::string statement_with_values(const NamedQuery& query, const std::vector<std::string>& values,
                                  std::optional<std::int64_t> limit);

/// The names of the columns of the result, as the select list of the statement gives them.
std::vector<std::string> columns_of(std::string_view statement);

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
