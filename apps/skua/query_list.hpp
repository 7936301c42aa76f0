#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skua::cli {

/// A part of a database that a query reads and that may be missing.
struct QueryNeed {
  enum class Kind : std::uint8_t {
    Projection,
    Index,
    /// An index that makes the query fast for a subject with very many records.
    FastIndex,
    Labels
  };
  Kind kind = Kind::Projection;
  /// The name of the projection or of the optional index.
  std::string name;
  /// The effect if the part is missing: "there are no rows".
  std::string without;
};

/// A query of docs/queries.md.
struct NamedQuery {
  std::string name;
  std::string group;  // the heading of its section
  std::string title;
  /// The text between title and statement, in one line; may be empty.
  std::string description;
  /// The arguments in the order of their first use.
  std::vector<std::string> arguments;
  std::vector<QueryNeed> needs;
  /// The optional arguments that it takes: `viewer`, `before`, `after`, `last` and
  /// `last_reason`.
  std::vector<std::string> options;
  /// The maximum number of rows that the statement returns.
  std::optional<std::int64_t> limit;
  /// The statement as it is in the document, without the final semicolon (see StatementPart).
  std::string statement;
};

/// Returns docs/queries.md, which the build embeds.
std::string_view queries_document();

/// Parses the queries of a document in their order: each block ```sql whose first line is `--
/// NAME`. The arguments are the psql variables in the block, such as :'account'. The next lines may
/// be `-- needs projection NAME; without it, EFFECT`, `-- needs index NAME; without it, EFFECT`,
/// `-- needs index NAME for popular subjects; without it, EFFECT` and `-- needs labels; without
/// them, EFFECT`. Throws std::invalid_argument for another need.
std::vector<NamedQuery> parse_queries(std::string_view document);

/// Returns the queries of queries_document(), which are parsed once.
const std::vector<NamedQuery>& named_queries();
/// Returns null if no query has this name.
const NamedQuery* find_query(std::string_view name);

/// A part of a statement of docs/queries.md. The texts refer to the statement.
struct StatementPart {
  enum class Kind : std::uint8_t {
    Text,
    /// The part is an argument such as `:'account'`, and `text` is the name.
    Argument,
    /// The part is a limit such as `/*limit*/ 50`, and `text` is the number.
    Limit,
    /// The part is an optional argument, such as `/*viewer*/ null`, and `text` is the name.
    Option
  };
  Kind kind = Kind::Text;
  std::string_view text;
};
std::vector<StatementPart> parts_of(std::string_view statement);

/// The values of optional arguments by name. Arguments without a value are null in the statement.
using QueryOptions = std::map<std::string, std::string, std::less<>>;

/// Returns whether a query takes an optional argument.
bool takes(const NamedQuery& query, std::string_view option);

/// Returns the name of an option of the command line for an optional argument.
std::string flag_of(std::string_view option);

/// Reads the values of optional arguments that the query takes. Throws UsageError for a value of
/// another form; the error has the name of the argument as an option of the command line if
/// `are_flags`, and otherwise the name itself.
QueryOptions read_options(const NamedQuery& query, const QueryOptions& given, bool are_flags);

/// Returns the optional arguments with which the query returns the rows after a row of its answer
/// with `options`; empty if the answer is not a page. `value` returns the value of a column of the
/// row.
QueryOptions options_after(const NamedQuery& query, const QueryOptions& options,
                           const std::function<std::string(std::string_view column)>& value);

/// Returns the statement with the parameters $1, $2... of type text for its arguments, then for
/// `options`, and one of type int4 for the maximum number of rows, if there is one.
std::string statement_with_parameters(const NamedQuery& query, bool has_limit,
                                      const QueryOptions& options);

/// Returns the statement for psql, with the values of the arguments as literals and a semicolon. It
/// returns at most `limit` rows; all rows if `limit` is nothing.
std::string statement_with_values(const NamedQuery& query, const std::vector<std::string>& values,
                                  std::optional<std::int64_t> limit, const QueryOptions& options);

/// Returns the words for a user: the name of the query, and its arguments in capitals.
std::string usage_of(const NamedQuery& query);

/// Returns the names of the columns of the result, as the select list of the statement states them.
std::vector<std::string> columns_of(std::string_view statement);

/// An argument of queries. The name in docs/queries.md determines the form of its values.
struct QueryArgument {
  std::string_view name;
  /// The meaning of the value: "an account".
  std::string_view meaning;
  /// The form of the value: "a DID, a handle, or the bsky.app URL of a profile".
  std::string_view form;
  std::string_view example;
  /// Returns the value in the form that queries take; nothing if the text does not have the form.
  std::optional<std::string> (*read)(std::string_view text);
};

/// Returns the argument of a name. Throws std::out_of_range for a name that no query may use.
const QueryArgument& query_argument(std::string_view name);

/// Returns the meaning and the form for help: "An account: a DID..."
std::string argument_help(const QueryArgument& argument);

/// Returns the name as help shows it: "ACCOUNT".
std::string shown_name(std::string_view argument);

/// Reads the values of the arguments of a query. Throws UsageError for a value of another form.
std::vector<std::string> read_arguments(const NamedQuery& query,
                                        const std::vector<std::string>& texts);

}  // namespace skua::cli
