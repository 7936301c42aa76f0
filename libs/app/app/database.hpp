#pragma once

#include <cstdint>
#include <string>

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

/// Connects once and checks what this program needs: the server's version, encoding and lock table,
/// no pooler in transaction mode, and the schema of this binary. Throws postgres::SqlError if the
/// server cannot be reached, and std::runtime_error with a message for the user if a check fails.
void check_database(const std::string& url, Durability durability = Durability::Any);
/// Does the checks of `check_database` for a process that writes. If the database is not the one
/// that was written before, begins a new timeline of the change log.
void check_database_to_write(const std::string& url, Durability durability = Durability::Any);

}  // namespace skua::app
