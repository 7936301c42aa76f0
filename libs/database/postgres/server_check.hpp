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
  /// The number of advisory locks, which is the workers times the events of a batch.
  std::size_t locks = 0;
  std::size_t connections = 0;
  /// Whether committed data must survive a crash of the server's machine.
  bool durable = false;
  /// A server that is a read-only standby suits a program that only reads.
  bool writes = true;
};

/// The properties of a server that the program and ServerNeeds depend on.
struct ServerFacts {
  /// The version as in `server_version_num`: 140005.
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

/// A need of the program that the server does not meet.
struct ServerProblem {
  /// A problem of `kProblems`.
  const Problem* problem = nullptr;
  /// A sentence with the setting to change.
  std::string text;
};

/// Returns the reasons why the server does not suit the program. The program needs version 14 or
/// later, UTF-8, enough connections, and a large enough lock table. It needs a primary and
/// durability if `needs` say so. Empty if there is no problem.
std::vector<ServerProblem> server_problems(const ServerFacts& facts, const ServerNeeds& needs);

/// Checks whether two sessions on one address get the same server process. Each session needs its
/// own process, but a pooler in transaction mode (PgBouncer's `pool_mode = transaction`) assigns a
/// process to each transaction. Settings, session locks and prepared statements are then lost or
/// belong to another client. Checks only if there are signs of a pooler. Returns nothing if there
/// is no problem. Throws SqlError.
std::optional<std::string> pooling_problem(Session& one, const std::string& url);

}  // namespace skua::postgres
