#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "store/session.hpp"

namespace skua::store {

/// The resources of the server that the program uses at the same time.
struct ServerNeeds {
  /// Advisory locks: workers times the events of a batch.
  std::size_t locks = 0;
  std::size_t connections = 0;
  /// Committed data must survive a crash of the server's machine.
  bool durable = false;
};

/// Checks that the server suits the program: version 14 or later, UTF-8, not a read-only standby,
/// enough connections and a large enough lock table. Each problem is a sentence with the setting to
/// change; an empty list: no problem. Throws SqlError.
std::vector<std::string> server_problems(Session& session, const ServerNeeds& needs);

/// Whether two sessions on one address get the same server process. Each needs its own, but a
/// pooler in transaction mode (PgBouncer's `pool_mode = transaction`) assigns a process to each
/// transaction. Settings, session locks and prepared statements are then lost or belong to another
/// client. Checks only if there are signs of a pooler. Nothing: no problem. Throws SqlError.
std::optional<std::string> pooling_problem(Session& one, const std::string& url);

}  // namespace skua::store
