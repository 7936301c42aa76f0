#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "doctor/finding.hpp"
#include "postgres/session.hpp"

namespace skua::doctor {

/// The result of comparing the schema of the database with the schema of this program.
struct SchemaState {
  enum class Kind : std::uint8_t { Current, Old, Newer, Other };
  Kind kind = Kind::Current;
  /// If the schema is current, the newest migration; otherwise the difference.
  std::string text = {};
};

/// Compares the schema of the database with that of this program. Throws postgres::SqlError.
SchemaState read_schema_state(postgres::Session& session);

/// Judges the result of the comparison. Pure.
Finding judge_schema(const SchemaState& state);

/// Judges whether all tables of records are plain tables. `problem` is the reason why they are not.
/// Pure.
Finding judge_table_layout(const std::optional<std::string>& problem);

/// An index that the schema of this program has.
struct ExpectedIndex {
  /// The qualified name, such as `bsky.posts_quote`.
  std::string name;
  bool is_unique = false;
  /// The statement without a semicolon.
  std::string statement;
};

/// Returns the statements of all indexes of the schema, from
/// libs/operations/doctor/schema_indexes.sql. scripts/schema_docs writes this file from a migrated
/// database.
std::string_view schema_indexes();

/// Parses the text that `schema_indexes` returns. Throws std::invalid_argument for a malformed
/// text, which would be a bug.
std::vector<ExpectedIndex> parse_indexes(std::string_view text);

/// An index that the database has.
struct PresentIndex {
  std::string name;
  bool is_valid = true;
  /// True if `create index concurrently` or `reindex` is building the index now.
  bool is_being_built = false;
};

struct IndexesFound {
  std::vector<PresentIndex> present = {};
  /// The names of the indexes that an open bootstrap has dropped and builds later.
  std::vector<std::string> dropped = {};
};

/// Reads the indexes of the database. Throws postgres::SqlError.
IndexesFound read_indexes(postgres::Session& session);

/// Compares the indexes. An index that an open bootstrap has dropped does not count as missing.
/// Pure.
Findings judge_indexes(const std::vector<ExpectedIndex>& expected, const IndexesFound& found);

}  // namespace skua::doctor
