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

/// Whether the server can carry the program: version 14 or later, UTF-8, not a read-only standby, a
/// lock table and connections that are enough. Each problem is a sentence with the setting to
/// change; none: all is well. Throws SqlError.
std::vector<std::string> server_problems(Session& session, const ServerNeeds& needs);

/// Whether two sessions on one address have a server process of their own each, as they need: a
/// pooler in transaction mode (PgBouncer's `pool_mode = transaction`) gives one to each
/// transaction, and settings, session locks and prepared statements are lost or somebody else's
/// after it. Asks only where a pooler is seen to be between. Nothing: all is well. Throws SqlError.
std::optional<std::string> pooling_problem(Session& one, const std::string& url);

}  // namespace skua::store
