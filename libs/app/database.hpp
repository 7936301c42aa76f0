#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace skua::app {

/// What a command relies on.
enum class Durability : std::uint8_t {
  /// It reads, or the user said that the database may be lost.
  Any,
  /// What is committed outlasts a crash of the server's machine.
  Needed,
};

/// Connects once and sees to it that this program can work with the database: server version,
/// encoding, size of the lock table, no pooler that takes sessions apart, and that its migrations
/// are those of this binary. Throws store::SqlError when it cannot be reached, std::runtime_error
/// with what to do otherwise.
void check_database(const std::string& url, Durability durability = Durability::Any);

/// Why a process that writes to the database must stop: `defect`, or else that the database has
/// become another one since the process began.
std::optional<std::string> reason_to_stop(std::optional<std::string> defect,
                                          const std::string& url);

}  // namespace skua::app
