#pragma once

#include <string>

#include "resolve/id_cache.hpp"

namespace skua::app {

/// Connects once and sees to it that this program can work with the database: server version,
/// encoding, size of the lock table, and that its migrations are those of this binary. Throws
/// store::SqlError when it cannot be reached, std::runtime_error with what to do otherwise.
void check_database(const std::string& url);

/// Reads the ids of accounts that are there: see resolve::fill_with_actors.
void fill_with_actors(const std::string& url, resolve::IdCache& cache);

}  // namespace skua::app
