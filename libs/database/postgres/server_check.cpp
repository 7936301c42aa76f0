#include "postgres/server_check.hpp"

#include <bit>
#include <cstdint>
#include <string_view>

#include <fmt/format.h>

#include "postgres/server_check.sql.hpp"

namespace skua::postgres {
namespace {

constexpr std::int64_t kOldestVersion = 140000;

ServerProblem unsafe(std::string_view name) {
  return {&problem("unsafe-server"),
          fmt::format("{0} is off: a crash of the server's machine loses or damages rows that the "
                      "saved cursor has passed; set {0} = on, or allow it for a database that may "
                      "be lost (--allow-unsafe-database, SKUA_ALLOW_UNSAFE_DATABASE=true)",
                      name)};
}

constexpr int kPoolRounds = 5;

/// Runs a statement without preparing it. At this point a pooler in transaction mode, which loses
/// prepared statements, is still possible.
template <class Row>
Row run_one(Session& session, const Statement& statement) {
  return rows_of<Row>(session.run(statement.sql)).at(0);
}

std::int32_t server_process(Session& session) {
  return run_one<std::int32_t>(session, sql::server_process);
}

}  // namespace

ServerFacts read_server_facts(Session& session) {
  return run_one<ServerFacts>(session, sql::server_facts);
}

std::vector<ServerProblem> server_problems(const ServerFacts& facts, const ServerNeeds& needs) {
  std::vector<ServerProblem> problems;
  if (facts.version < kOldestVersion) {
    problems.push_back({&problem("server-version"),
                        fmt::format("PostgreSQL {} is too old: skua needs version 14 or later",
                                    facts.version / 10000)});
  }
  if (facts.encoding != "UTF8") {
    problems.push_back({&problem("server-version"),
                        fmt::format("the database's encoding is {}, it must be UTF8: CREATE "
                                    "DATABASE ... ENCODING 'UTF8' TEMPLATE template0",
                                    facts.encoding)});
  }
  if (facts.is_standby && needs.writes) {
    problems.push_back({&problem("database-read-only"),
                        "the server is a read-only standby: connect to the primary"});
  }

  const auto needed_connections = static_cast<std::int64_t>(needs.connections);
  if (facts.max_connections - facts.reserved_connections < needed_connections) {
    problems.push_back(
        {&problem("connections-full"),
         fmt::format("max_connections is {}, of which {} are reserved, and skua needs {}: set "
                     "max_connections = {} or more in postgresql.conf and restart the server",
                     facts.max_connections, facts.reserved_connections, needed_connections,
                     needed_connections + facts.reserved_connections + 10)});
  }

  // All sessions share the lock table, and each session may use more than its share.
  const std::int64_t sharers = facts.max_connections + facts.max_prepared_transactions;
  const auto needed_locks = static_cast<std::int64_t>(needs.locks);
  if (facts.max_locks_per_transaction * sharers < needed_locks) {
    const auto enough = std::bit_ceil(static_cast<std::uint64_t>(needed_locks / sharers + 1));
    problems.push_back(
        {&problem("lock-table-full"),
         fmt::format("the lock table holds {} locks and skua needs {}: set "
                     "max_locks_per_transaction = {} in postgresql.conf (it is {}) and restart "
                     "the server",
                     facts.max_locks_per_transaction * sharers, needed_locks, enough,
                     facts.max_locks_per_transaction)});
  }
  if (needs.durable && !facts.fsync) problems.push_back(unsafe("fsync"));
  if (needs.durable && !facts.full_page_writes) problems.push_back(unsafe("full_page_writes"));
  return problems;
}

std::optional<std::string> pooling_problem(Session& one, const std::string& url) {
  if (!one.is_pooled()) return std::nullopt;
  Session other(url, "skua check");
  const std::int32_t first = server_process(one);
  for (int round = 0; round < kPoolRounds; ++round) {
    const std::int32_t before = server_process(one);
    const Transaction transaction(other);
    const std::int32_t others = server_process(other);
    // The order matters: if both sessions share one process, the last query would wait for the
    // transaction.
    if (before == others || before != first || server_process(one) != first) {
      return "a pooler in transaction mode is between skua and PostgreSQL (PgBouncer's pool_mode = "
             "transaction, or statement): sessions lose their settings, prepared statements and "
             "the locks that keep a second process away; connect to PostgreSQL itself, or set "
             "pool_mode = session for this database";
    }
  }
  return std::nullopt;
}

}  // namespace skua::postgres
