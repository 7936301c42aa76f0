#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "postgres/rows.hpp"

namespace skua::cli {

// The functions format the result of a query for `skua query`.

struct QueryResult {
  postgres::Rows rows;
  /// The number of rows that are shown, from the first row on.
  std::size_t count = 0;
  /// For each column, whether it has the type timestamptz.
  std::vector<bool> is_time;
};

struct ResultTable {
  std::string text;
  /// The names of the columns that do not fit.
  std::vector<std::string> hidden;
};

/// Returns a table with aligned columns and a line with the number of rows. The table is at most
/// `width` columns of a terminal wide: it first shortens texts, and then hides columns. A single
/// row that does not fit becomes a line for each column. If `width` is nothing, everything is
/// shown. Times have no fractions of seconds. The values come from the network, and the text is
/// safe for a terminal.
ResultTable result_table(const QueryResult& result, std::optional<std::size_t> width);

/// Returns CSV (RFC 4180) with a header, and LF as the end of a line. Null is an empty field. Times
/// have the form of RFC 3339; other values are unchanged.
std::string result_csv(const QueryResult& result);

/// Returns a time that PostgreSQL has written in a session with UTC in the form of RFC 3339. Other
/// texts stay unchanged.
std::string rfc3339(std::string_view time);

}  // namespace skua::cli
