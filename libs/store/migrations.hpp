#pragma once

#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "store/session.hpp"

namespace skua::store {

/// One file of schema/: `NNNN_name.sql`.
struct Migration {
  int version = 0;
  std::string_view name;
  std::string_view sql;

  /// SHA-256 of the text, in hex.
  std::string checksum() const;
  /// The file's name without its extension.
  std::string label() const;
};

/// The schema of the database does not match this program; the message tells the user what to do.
class MigrationError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The database has a migration that this program does not know.
class NewerDatabase : public MigrationError {
  using MigrationError::MigrationError;
};

/// The migrations that were compiled into this program, by version.
std::vector<Migration> migrations();

/// The migrations of `known` that were not applied to the database, by version. Throws
/// NewerDatabase if the database has a migration that `known` lacks, MigrationError if it has one
/// with another text, or lacks one below its newest; SqlError.
std::vector<Migration> pending_migrations(Session& session, std::span<const Migration> known);

/// Applies pending migrations, each in a transaction of its own, and returns them. Waits while
/// another process migrates. Throws as above, and SourceBusy while a process reads a source into
/// the database; migrations before a failure stay applied.
std::vector<Migration> migrate(Session& session, std::span<const Migration> known);

}  // namespace skua::store
