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
  /// As the file is called, without its ending.
  std::string label() const;
};

/// The database and this program do not fit together; the message says what to do.
class MigrationError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The migrations that this program was built with, by version.
std::vector<Migration> migrations();

/// Those of `known` that the database has not had, by version. Throws MigrationError when the
/// database has one that `known` has not (it is newer than the program), has one with another text,
/// or lacks one below its newest; SqlError.
std::vector<Migration> pending_migrations(Session& session, std::span<const Migration> known);

/// Applies pending migrations, each in a transaction of its own, and returns them. Waits while
/// another process migrates. Throws as above, and SourceBusy while a source is indexed into the
/// database; migrations before a failure stay.
std::vector<Migration> migrate(Session& session, std::span<const Migration> known);

}  // namespace skua::store
