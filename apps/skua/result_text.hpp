#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "postgres/rows.hpp"

namespace skua::cli {

// The result of a query as text, for `skua query`.

struct QueryResult {
  postgres::Rows rows;
  /// The first rows, which are shown.
  std::size_t count = 0;
  /// By column: whether it has the type timestamptz.
  std::vector<bool> is_time;
};

struct ResultTable {
  std::string text;
  /// The columns that do not fit.
  std::vector<std::string> hidden;
};

/// A table with aligned columns and a line with the number of rows, at most `width` columns of a
/// terminal wide: it shortens texts, then it leaves columns out. A single row that does not fit is
/// a line for each column instead. Nothing: everything is shown. Times have no fractions of
/// seconds. Values come from the network: the text is safe for a terminal.
ResultTable result_table(const QueryResult& result, std::optional<std::size_t> width);

/// CSV of RFC 4180 with a header, and LF as the end of a line. Null is an empty field. Times are
/// those of RFC 3339, and other values are unchanged.
std::string result_csv(const QueryResult& result);

}  // namespace skua::cli
