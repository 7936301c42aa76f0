#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "atproto/account_group.hpp"
#include "postgres/server_check.hpp"

namespace skua::app {

/// Whether a command needs a durable database.
enum class Durability : std::uint8_t {
  /// The command only reads, or the user accepts that a crash of the server loses data.
  Any,
  /// A commit must survive a crash of the server's machine.
  Needed,
};

/// Returns what an indexing process needs of the server.
postgres::ServerNeeds server_needs(Durability durability);

/// Throws std::runtime_error if a table of records is partitioned or distributed. Otherwise a
/// program that reads tables by their blocks would leave out rows without an error.
void require_plain_tables(postgres::Session& session);

/// Connects once and checks what this program needs: a primary, the server's version, encoding and
/// lock table, no pooler in transaction mode, the schema of this binary, and plain tables. Throws
/// postgres::SqlError if the server cannot be reached, and std::runtime_error with a message for
/// the user if a check fails.
void check_database(const std::string& url, Durability durability = Durability::Any);
/// Does the checks for a process that only reads: a read-only standby suits it, a small lock table,
/// and tables of any layout.
void check_database_to_read(const std::string& url);
/// Does the checks of `check_database_to_read` for a process that reads the state of the indexer.
/// Throws std::runtime_error for a query database too: it has no cursors, jobs, consumers or dead
/// letters, so a report about them would be empty.
void check_state_to_read(const std::string& url);
/// Does the checks of `check_database` for a process that writes. If the database is not the one
/// that was written before, begins a new timeline of the change log.
void check_database_to_write(const std::string& url, Durability durability = Durability::Any);

/// Returns the groups of accounts that the database owns. `stated` are the groups that the user
/// states. Throws postgres::SqlError, and with a message for the user tables::GroupsRefused, and
/// postgres::NodeError if another node has taken some of these groups (require_present_groups).
atproto::GroupSet state_groups(const std::string& url,
                               const std::optional<atproto::GroupSet>& stated = std::nullopt);

}  // namespace skua::app
