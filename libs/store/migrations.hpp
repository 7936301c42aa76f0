#pragma once

#include <string>
#include <vector>

#include "store/definitions.hpp"
#include "store/schema.hpp"
#include "store/session.hpp"

namespace skua::store {

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

}  // namespace skua::store
