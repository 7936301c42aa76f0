#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace skua::consumers {

/// A table and the SELECT that gives its rows.
struct OwnRows {
  std::string table;
  std::string select;
};

/// The limits of the statements of a user. The file may set each within a bound.
struct OwnLimits {
  /// The time of one statement of a batch.
  std::chrono::seconds batch{10};
  /// The time of one statement of a build or of a complete comparison.
  std::chrono::seconds build{3'600};
  /// The number of rows that one statement of a batch may write.
  std::int64_t rows = 500'000;
};

/// A statement that becomes a function of the database with the rights of skua_projection.
struct OwnStatement {
  enum class Kind : std::uint8_t {
    /// Fills tables. No parameters.
    Fill,
    /// Applies a batch. The parameters of Projection::fold.
    Fold,
    /// Returns differences. The parameter of Projection::differences.
    Differences,
  };
  /// The part of the file for messages, such as "`-- rows: langs`".
  std::string part;
  /// The function is `projections.<projection>_<suffix>_<consumer>`.
  std::string suffix;
  Kind kind = Kind::Fill;
  /// `{name}` stands for a table, and `{skua records}` and `{skua touched}` for the keys of records
  /// (own_functions.hpp).
  std::string sql;
};

/// A SELECT of sums, and the table over which it counts.
struct OwnSum {
  /// The part of the file for messages.
  std::string part;
  std::string select;
  std::string over;
};

/// How a query database shows a table that each node has (ADR 14).
enum class OnNodes : std::uint8_t {
  /// The file does not say. The query database does not show the table.
  Unknown,
  /// The rows of all nodes.
  Rows,
  /// The sums over the nodes of the columns outside of the key.
  Sums,
};

/// A table, and the condition for the rows that people see.
struct OwnTable {
  std::string name;
  /// The columns, separated by commas.
  std::string columns;
  std::string condition;
  /// The columns with their types, separated by commas.
  std::string types;
  std::vector<std::string> key;
  bool is_internal = false;
  OnNodes on_nodes = OnNodes::Unknown;
};

/// The parts that only the file of a user has.
struct OwnParts {
  /// The file, and its SHA-256 in hexadecimal digits.
  std::string text;
  std::string sha256;
  /// The collections of the simple form; empty if the file has its own fill and fold.
  std::vector<std::string> collections;
  std::vector<OwnRows> rows;
  std::vector<OwnRows> sums;
  /// What a file with its own fill and fold says of its tables.
  std::map<std::string, OnNodes> on_nodes;
  OwnLimits limits;

  // The rest follows from the parts above (own_projection.hpp).

  std::vector<OwnTable> tables;
  std::vector<OwnStatement> statements;
  std::vector<OwnSum> checked_sums;
  /// Statements that compare rows of records chosen at random with the tables, one for each table
  /// of `rows`. Empty if only a complete comparison is possible.
  std::vector<std::string> samples;
  /// True if the comparison fills the tables a second time: the file has no `-- differences`.
  bool compares_with_fill = false;

  /// True if a comparison of some rows costs less than a complete one.
  bool has_samples() const { return !compares_with_fill || !samples.empty(); }
};

}  // namespace skua::consumers
