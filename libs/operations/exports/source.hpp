#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "postgres/session.hpp"

namespace skua::exports {

/// A column of a source.
struct Column {
  std::string name;
  /// The type as PostgreSQL names it: `bigint`, `timestamp with time zone`, `text[]`.
  std::string type;

  bool operator==(const Column&) const = default;
};

/// A table or view of the schema bsky.
struct Relation {
  std::string name;
  bool is_view = false;
  /// The comment of the database.
  std::string meaning;
};

/// Rows that can be exported.
struct Source {
  /// The SQL after FROM: the name of a relation, or a subquery. It needs an alias.
  std::string from;
  std::vector<Column> columns;
  /// The column by whose ranges the rows are read; it is an integer. Nothing: they are read at
  /// once.
  std::optional<std::string> key = std::nullopt;
  /// The relation and the column whose least and greatest value are those of the key. Several
  /// relations have the accounts' numbers, and for a view the bounds of bsky.actors are faster.
  std::string bounds_from = {};
  std::string bounds_key = {};
};

/// The bounds of a key, both included.
struct KeyBounds {
  std::int64_t first = 0;
  std::int64_t last = 0;
  /// If the keys are account numbers, the greatest value of their sequence: between the numbers of
  /// two groups of accounts there is a gap.
  std::optional<std::int64_t> drawn = std::nullopt;

  bool operator==(const KeyBounds&) const = default;
};

/// Returns the SQL for a name, in double quotes.
std::string quoted_name(std::string_view name);

// All functions throw postgres::SqlError.

/// Returns the tables and views of the schema bsky that the role may read, by name.
std::vector<Relation> read_relations(postgres::Session& session);

/// Returns a relation as a source. The key of a table is the first column of its primary key, and
/// that of a view is its account number, if these are integers.
Source relation_source(postgres::Session& session, const Relation& relation);

/// Returns the rows of one SELECT statement as a source without a key. `name` is the name of the
/// prepared statement that describes the columns; a statement with several commands fails.
Source statement_source(postgres::Session& session, const std::string& sql,
                        const std::string& name);

/// Makes a column of a statement the key. Returns false if there is no such column, or if it is not
/// an integer.
bool set_key(Source& source, const std::string& column);

/// Returns the bounds of the key; nothing if there are no rows.
std::optional<KeyBounds> read_bounds(postgres::Session& session, const Source& source);
/// Returns KeyBounds::drawn for the key of a source. The name of the key tells whether it is an
/// account number.
std::optional<std::int64_t> read_drawn(postgres::Session& session, const Source& source);

/// Returns the token of the database, which differs between databases.
std::string read_token(postgres::Session& session);

}  // namespace skua::exports
