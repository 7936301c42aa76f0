#pragma once

#include <cstdint>
#include <string>

#include "postgres/server_check.hpp"

namespace skua::app {

/// Whether a command needs a durable database.
enum class Durability : std::uint8_t {
  /// It only reads, or the user accepts that a crash of the server loses data.
  Any,
  /// A commit must survive a crash of the server's machine.
  Needed,
};

/// What a process that indexes needs of the server.
postgres::ServerNeeds server_needs(Durability durability);

/// Connects once and checks what this program needs: the server's version, encoding and lock table,
/// no pooler in transaction mode, and the schema of this binary. Throws postgres::SqlError when
/// the server cannot be reached, std::runtime_error with a message for the user otherwise.
void check_database(const std::string& url, Durability durability = Durability::Any);
/// The same for a process that writes. It begins a new timeline of the change log if the database
/// is not the one that was written before.
void check_database_to_write(const std::string& url, Durability durability = Durability::Any);

}  // namespace skua::app
