#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "exports/source.hpp"
#include "invocation.hpp"
#include "postgres/session.hpp"
#include "query_list.hpp"

namespace skua::cli {

/// What the words of `skua export` name.
struct NamedSource {
  exports::Source source;
  /// The name for messages and files: `posts_view`, `likes`, `statement`.
  std::string name;
  /// The question and the values of its arguments; null for a table, a view or a statement.
  const NamedQuery* query = nullptr;
  std::vector<std::string> values = {};
};

/// Reads the words: a table or view of the schema bsky, or a question with its arguments.
/// `bsky.NAME` is always a table or view. Throws UsageError for other words, with the most similar
/// name, and for a name of both kinds; throws postgres::SqlError.
NamedSource read_named_source(postgres::Session& session, const std::vector<std::string>& words);

/// Returns the rows of a statement of the user. Throws postgres::SqlError if it is not one SELECT
/// statement, and UsageError if two columns have the same name.
NamedSource read_statement(postgres::Session& session, std::string sql);

/// Returns the columns with these names, in their order; all columns if there are no names. Throws
/// UsageError for an unknown name, with the most similar one.
std::vector<exports::Column> chosen_columns(const NamedSource& named,
                                            const std::vector<std::string>& names);

/// Returns the names that shells complete, with their meanings: the tables and views of this
/// program's schema, and the questions.
std::vector<std::pair<std::string, std::string>> exportable_names();

}  // namespace skua::cli
