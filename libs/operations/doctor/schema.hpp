#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "doctor/finding.hpp"
#include "postgres/session.hpp"

namespace skua::doctor {

/// The schema of the database, compared with that of this program.
struct SchemaState {
  enum class Kind : std::uint8_t { Current, Old, Newer, Other };
  Kind kind = Kind::Current;
  /// Of a current one: the newest migration. Otherwise: the difference.
  std::string text = {};
};

/// Throws postgres::SqlError.
SchemaState read_schema_state(postgres::Session& session);

/// Pure.
Finding judge_schema(const SchemaState& state);

/// An index of the schema.
struct ExpectedIndex {
  /// With its schema, such as `bsky.posts_quote`.
  std::string name;
  bool is_unique = false;
  /// Without a semicolon.
  std::string statement;
};

/// The statements of all indexes of the schema: libs/operations/doctor/schema_indexes.sql, which
/// scripts/schema_docs writes from a migrated database.
std::string_view schema_indexes();

/// Parses such a text. Throws std::invalid_argument for any other text, which is a bug.
std::vector<ExpectedIndex> parse_indexes(std::string_view text);

/// An index of the database.
struct PresentIndex {
  std::string name;
  bool is_valid = true;
  /// `create index concurrently` or `reindex` is building it now.
  bool is_being_built = false;
};

struct IndexesFound {
  std::vector<PresentIndex> present = {};
  /// Indexes that an open bootstrap has dropped and builds again.
  std::vector<std::string> dropped = {};
};

/// Throws postgres::SqlError.
IndexesFound read_indexes(postgres::Session& session);

/// Compares the indexes. An index that an open bootstrap has dropped is not missing. Pure.
Findings judge_indexes(const std::vector<ExpectedIndex>& expected, const IndexesFound& found);

}  // namespace skua::doctor
