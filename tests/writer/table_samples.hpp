#pragma once

#include <cstdint>
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
  /// The values of the row's columns, besides those that all tables have: a SQL expression over the
  /// row `t`, and its text.
  std::string expression;
  std::string expected;
  /// False: the collection's lexicon has no createdAt.
  bool has_created_at = true;
  std::int32_t collection_id = 0;
  /// A column that stays null because another one has a value.
  std::string empty = {};

  /// The name in the output of a failed test.
  friend void PrintTo(const TableSample& sample, std::ostream* out) { *out << sample.table; }
};

/// One sample of each table that has typed columns, by collection id: the files of
/// tests/writer/samples/.
const std::vector<TableSample>& table_samples();

}  // namespace skua::test
