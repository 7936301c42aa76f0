#pragma once

#include <map>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "postgres/session.hpp"

namespace skua::postgres {

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

/// The schema of the database does not match this program; the message tells the user what to do.
class MigrationError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The files of functions, views and rights. A file creates its objects with CREATE OR REPLACE, and
// skua.schema_files has its checksum and its objects.

/// The files of `known` that differ from those that were applied to the database, or of which an
/// object is missing, in the order of `known`. The last one has the rights. It is there if any
/// other file is, or if a file that was applied is not in `known`.
std::vector<SchemaFile> changed_definitions(Session& session, std::span<const SchemaFile> known);

/// Applies the files of `known` whose names are in `names`, in their order, inside the caller's
/// transaction. If CREATE OR REPLACE cannot change an object, the objects of its file and all that
/// depend on them are dropped and created again. Then drops the objects that no file creates any
/// more. Throws MigrationError if an object that is not from `known` depends on one that must be
/// dropped; SqlError.
void apply_definitions(Session& session, std::span<const SchemaFile> known,
                       std::set<std::string> names);

/// The database has a migration that this program does not know.
class NewerDatabase : public MigrationError {
  using MigrationError::MigrationError;
};

/// What a database lacks of a schema.
struct SchemaChanges {
  /// The database has no tables yet.
  bool is_new = false;
  /// By version.
  std::vector<Migration> migrations;
  /// In the order of the schema. All of them, if the tables change: the comments of columns and the
  /// functions bsky.record_json follow the columns of the tables.
  std::vector<SchemaFile> definitions;

  bool empty() const { return !is_new && migrations.empty() && definitions.empty(); }
  /// For people: `lacks 2 migrations, from 0070_x on`.
  std::string text() const;
};

/// What the database lacks. Throws NewerDatabase if it has a migration that `schema` lacks, and
/// MigrationError if it has one with another text, if it lacks one below its newest, or if it is
/// older than the databases of `Schema::former`; SqlError.
SchemaChanges pending_changes(Session& session, const Schema& schema);

/// Applies what the database lacks in one transaction, and returns it: if the process ends earlier,
/// the database stays as it was. Waits while another process migrates. Throws as above, SourceBusy
/// while a process reads a source into the database, and MigrationError if a view or function that
/// is not from Skua depends on one that must be dropped (apply_definitions).
SchemaChanges migrate(Session& session, const Schema& schema);

}  // namespace skua::postgres
