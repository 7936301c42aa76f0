#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace skua::store {

/// A file of schema/tables, schema/functions or schema/views, or schema/rights.sql.
struct SchemaFile {
  /// With its folder: `views/feed.sql`.
  std::string_view name;
  std::string_view sql;

  /// SHA-256 of the text, in hex.
  std::string checksum() const;
};

/// A file of schema/migrations: `NNNN_name.sql`.
struct Migration {
  int version = 0;
  std::string_view name;
  std::string_view sql;

  /// SHA-256 of the text, in hex.
  std::string checksum() const;
  /// The name of the file without its extension.
  std::string label() const;
};

/// The description of a database. `tables` create a new one with the schema of migration
/// `baseline`. Later migrations change tables. `definitions` are the files of functions, views and
/// rights, each one after those that it needs. They describe the present schema and are applied
/// again when they change.
struct Schema {
  int baseline = 0;
  std::vector<SchemaFile> tables;
  /// By version. Those up to `baseline` are for former databases only.
  std::vector<Migration> migrations;
  std::vector<SchemaFile> definitions;
  /// The databases of former migrations that become the baseline: the version of the newest
  /// migration, and the SHA-256 of the checksums in skua.migrations in the order of the versions.
  std::multimap<int, std::string> former = {};

  /// The version of the newest migration.
  int version() const;
  /// The row of the baseline in skua.migrations: its checksum is that of all files of `tables`.
  std::string tables_checksum() const;
};

/// The schema that was compiled into this program.
const Schema& schema();

}  // namespace skua::store
