#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/problem.hpp"
#include "postgres/session.hpp"

namespace skua::postgres {

/// The resources of the server that the program uses at the same time.
struct ServerNeeds {
  /// Advisory locks: workers times the events of a batch.
  std::size_t locks = 0;
  std::size_t connections = 0;
  /// Committed data must survive a crash of the server's machine.
  bool durable = false;
};

/// The properties of a server that ServerNeeds and the program concern.
struct ServerFacts {
  /// As in `server_version_num`: 140005.
  std::int64_t version = 0;
  std::string encoding;
  bool is_standby = false;
  std::int64_t max_connections = 0;
  std::int64_t reserved_connections = 0;
  std::int64_t max_prepared_transactions = 0;
  std::int64_t max_locks_per_transaction = 0;
  bool fsync = true;
  bool full_page_writes = true;
};

/// Throws SqlError.
ServerFacts read_server_facts(Session& session);

/// What a server lacks.
struct ServerProblem {
  /// One of `kProblems`.
  const Problem* problem = nullptr;
  /// A sentence with the setting to change.
  std::string text;
};

/// Judges that the server suits the program: version 14 or later, UTF-8, not a read-only standby,
/// enough connections and a large enough lock table, and durable if necessary. Empty: no problem.
std::vector<ServerProblem> server_problems(const ServerFacts& facts, const ServerNeeds& needs);

/// Whether two sessions on one address get the same server process. Each needs its own, but a
/// pooler in transaction mode (PgBouncer's `pool_mode = transaction`) assigns a process to each
/// transaction. Settings, session locks and prepared statements are then lost or belong to another
/// client. Checks only if there are signs of a pooler. Nothing: no problem. Throws SqlError.
std::optional<std::string> pooling_problem(Session& one, const std::string& url);

}  // namespace skua::postgres
