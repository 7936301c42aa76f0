#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "consumers/projections/projection.hpp"

namespace skua::consumers {

/// A column of a table of a user.
struct OwnColumn {
  std::string name;
  std::string type;
  bool is_nullable = true;
};

/// The columns of a table of a user, and its primary key in the order of the file.
struct OwnColumns {
  std::vector<OwnColumn> columns;
  std::vector<std::string> key;

  bool has(std::string_view name) const;
  const OwnColumn* find(std::string_view name) const;
  bool is_key(std::string_view name) const;
  /// Returns the columns that are not part of the key.
  std::vector<OwnColumn> values() const;
  /// Returns the definition for CREATE TABLE.
  std::string definition() const;
  /// Returns the columns with their types, without constraints.
  std::string with_types() const;
};

/// Reads the definition of a table of a user. Only columns with types of PostgreSQL, NOT NULL and a
/// primary key are allowed: the owner of the schema creates the table, so the definition must not
/// contain expressions, references, or the end of the statement. Throws std::invalid_argument.
/// Pure.
OwnColumns read_own_columns(const ProjectionTable& table);

/// Checks the columns of an index, such as `(lang, posts DESC)`. Throws std::invalid_argument.
void check_own_index(const ProjectionTable& table, const OwnColumns& columns,
                     const std::string& index);

/// Whether a name can be used without quotes: a-z, 0-9 and _, at most 40 characters, and no number
/// at the end that would make it the table of a consumer.
bool is_own_name(std::string_view name);

/// Whether sums of this type are exact: an integer or numeric.
bool is_exact_number(std::string_view type);

}  // namespace skua::consumers
