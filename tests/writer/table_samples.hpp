#pragma once

#include <ostream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace skua::test {

/// A record of one table with every field that has a column, and one without that has none.
struct TableSample {
  std::string table;
  std::string collection;
  std::string rkey;
  nlohmann::json record;
  /// What the row's columns are, besides those that all tables have: a SQL expression over the row
  /// `t`, and its text.
  std::string expression;
  std::string expected;
  /// False: the collection's lexicon has no createdAt.
  bool has_created_at = true;

  /// How a failed test names it.
  friend void PrintTo(const TableSample& sample, std::ostream* out) { *out << sample.table; }
};

/// One of each table that has typed columns.
const std::vector<TableSample>& table_samples();

}  // namespace skua::test
