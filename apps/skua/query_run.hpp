#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "postgres/rows.hpp"
#include "postgres/session.hpp"
#include "query_list.hpp"
#include "query_note.hpp"

namespace skua::cli {

// The functions run a query of docs/queries.md, for `skua query` and for `/query` of `skua serve`.

/// One run of a query.
struct Execution {
  const NamedQuery& query;
  postgres::Params params;
  /// The name of the statement: equal names have equal texts.
  std::string name;
  /// The statement returns one row more than the limit, which shows whether there are more rows.
  std::string sql;
};

/// Returns the execution of a query with the values of its arguments. Without a limit, which is
/// below 2^31 - 1, it returns all rows.
Execution execution_of(const NamedQuery& query, const std::vector<std::string>& values,
                       std::optional<std::int64_t> limit, const QueryOptions& options,
                       bool is_query_database);

/// Returns the rows, or each row as JSON text in one column. Throws postgres::SqlError.
postgres::Rows rows_of(postgres::Session& session, const Execution& execution, bool as_json);

/// Returns the optional arguments with which the query returns the rows after this row of
/// `rows_of`, which it returned with `options`; empty if the answer is not a page.
QueryOptions options_after(const NamedQuery& query, const QueryOptions& options,
                           const postgres::Rows& rows, std::size_t row, bool are_json);

/// Returns the first `count` rows of `rows_of` as JSON, with the notes, and with the optional
/// arguments `next` of the next page if there are any. All characters beyond ASCII are escaped.
std::string json_text(const postgres::Rows& rows, std::size_t count, bool has_more,
                      const std::vector<QueryNote>& notes, const QueryOptions& next);

void append(std::vector<QueryNote>& notes, std::vector<QueryNote> more);

}  // namespace skua::cli
