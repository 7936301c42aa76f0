#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "postgres/session.hpp"

namespace skua::postgres {

/// A file of schema/tables, schema/functions or schema/views, schema/rights.sql, or the views of
/// the projections (`projections`).
struct SchemaFile {
  /// The name with its folder: `views/feed.sql`.
  std::string_view name;
  std::string_view sql;

  /// Returns the SHA-256 of the text, in hex.
  std::string checksum() const;
};

/// The name of the definition with the views of the built-in projections.
inline constexpr std::string_view kProjectionViews = "projections";

/// A file of schema/migrations: `NNNN_name.sql`.
struct Migration {
  int version = 0;
  std::string_view name;
  std::string_view sql;

  /// Returns the SHA-256 of the text, in hex.
  std::string checksum() const;
  /// Returns the name of the file without its extension.
  std::string label() const;
};

/// The description of a database. `tables` create a new database with the schema of migration
/// `baseline`. Later migrations change tables. `definitions` are the files of functions, views and
/// rights, each after the files that it needs. They describe the current schema and are applied
/// again when they change.
struct Schema {
  int baseline = 0;
  std::vector<SchemaFile> tables;
  /// The migrations by version. Migrations up to `baseline` are only for former databases.
  std::vector<Migration> migrations;
  std::vector<SchemaFile> definitions;
  /// The number of files at the beginning of `definitions` whose functions migrations call. A new
  /// database gets them before the migrations too. Each older database has them already.
  std::size_t before_migrations = 0;
  /// The databases of former migrations that become the baseline. The key is the version of the
  /// newest migration. The value is the SHA-256 of the checksums in skua.migrations, in the order
  /// of the versions. With the version of the baseline, the value is the checksum of former files
  /// of `tables` that created the same tables.
  std::multimap<int, std::string> former = {};

  /// Returns the version of the newest migration.
  int version() const;
  /// Returns the checksum of all files of `tables`, for the row of the baseline in skua.migrations.
  std::string tables_checksum() const;
};

/// Returns the schema that was compiled into this program.
const Schema& schema();

/// The schema of the database does not match this program. The message tells the user what to do.
class MigrationError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The files of functions, views and rights create their objects with CREATE OR REPLACE.
// skua.schema_files has the checksum and the objects of each file.

/// Returns the files of `known` that differ from the applied files, or of which an object is
/// missing, in the order of `known`. The last file of `known` has the rights. It is included if any
/// other file is, or if an applied file is not in `known`.
std::vector<SchemaFile> changed_definitions(Session& session, std::span<const SchemaFile> known);

/// Applies the files of `known` whose names are in `names`, in their order, inside the caller's
/// transaction. If CREATE OR REPLACE cannot change an object, the objects of its file and all
/// objects that depend on them are dropped and created again. Then drops the objects that no file
/// creates any more. Throws MigrationError if an object that is not from `known` depends on an
/// object that must be dropped; throws SqlError.
void apply_definitions(Session& session, std::span<const SchemaFile> known,
                       std::set<std::string> names);

/// The database has a migration that this program does not know.
class NewerDatabase : public MigrationError {
  using MigrationError::MigrationError;
};

/// The parts of a schema that a database lacks.
struct SchemaChanges {
  /// Whether the database has no tables yet.
  bool is_new = false;
  /// The migrations by version.
  std::vector<Migration> migrations;
  /// The definitions in the order of the schema. If the tables change, these are all definitions:
  /// the comments of columns and the functions bsky.record_json follow the columns of the tables.
  std::vector<SchemaFile> definitions;

  bool empty() const { return !is_new && migrations.empty() && definitions.empty(); }
  /// Returns a text for people, such as `lacks 2 migrations, from 0070_x on`.
  std::string text() const;
};

/// Returns the parts that the database lacks. Throws NewerDatabase if the database has a migration
/// that `schema` lacks. Throws MigrationError if a migration of the database has another text, if a
/// migration below the newest one is missing, or if the database is older than the databases of
/// `Schema::former`. Throws SqlError.
SchemaChanges pending_changes(Session& session, const Schema& schema);

/// Applies the missing parts in one transaction and returns them. If the process ends earlier, the
/// database stays unchanged. Waits while another process migrates. Throws the exceptions of
/// `pending_changes`, and SourceBusy while a process reads a source into the database. Throws
/// MigrationError if a view or function that is not from Skua depends on an object that must be
/// dropped (apply_definitions).
SchemaChanges migrate(Session& session, const Schema& schema);

}  // namespace skua::postgres
