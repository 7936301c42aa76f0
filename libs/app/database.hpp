#pragma once

#include <string>

namespace skua::app {

/// Connects once and sees to it that this program can work with the database: server version,
/// encoding, size of the lock table, and that its migrations are those of this binary. Throws
/// store::SqlError when it cannot be reached, std::runtime_error with what to do otherwise.
void check_database(const std::string& url);

}  // namespace skua::app
