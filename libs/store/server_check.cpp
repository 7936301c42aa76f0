#include "store/server_check.hpp"

#include <bit>
#include <cstdint>

#include <fmt/format.h>

namespace skua::store {
namespace {

constexpr std::int64_t kOldestVersion = 140000;

std::int64_t setting(Session& session, const std::string& name) {
  return session.run("SELECT current_setting('" + name + "')::int8").int8(0, 0);
}

bool is_off(Session& session, const std::string& name) {
  return session.run("SHOW " + name).text(0, 0) == "off";
}

void add_safety_problems(Session& session, std::vector<std::string>& problems) {
  for (const std::string name : {"fsync", "full_page_writes"}) {
    if (!is_off(session, name)) continue;
    problems.push_back(fmt::format(
        "{0} is off: a crash of the server's machine loses or damages rows that the saved cursor "
        "has passed; set {0} = on, or allow it for a database that may be lost "
        "(--allow-unsafe-database, SKUA_ALLOW_UNSAFE_DATABASE=true)",
        name));
  }
}

constexpr int kPoolRounds = 5;

int server_process(Session& session) {
  return session.run("SELECT pg_backend_pid()").int4(0, 0);
}

}  // namespace

std::vector<std::string> server_problems(Session& session, const ServerNeeds& needs) {
  std::vector<std::string> problems;
  if (const std::int64_t version = setting(session, "server_version_num");
      version < kOldestVersion) {
    problems.push_back(
        fmt::format("PostgreSQL {} is too old: skua needs version 14 or later", version / 10000));
  }
  const Rows rows = session.run("SHOW server_encoding");
  if (rows.text(0, 0) != "UTF8") {
    problems.push_back(fmt::format(
        "the database's encoding is {}, it must be UTF8: CREATE DATABASE ... ENCODING 'UTF8' "
        "TEMPLATE template0",
        rows.text(0, 0)));
  }
  if (session.run("SELECT pg_is_in_recovery()").boolean(0, 0)) {
    problems.emplace_back("the server is a read-only standby: connect to the primary");
  }

  const std::int64_t connections = setting(session, "max_connections");
  const std::int64_t reserved = setting(session, "superuser_reserved_connections");
  const auto needed_connections = static_cast<std::int64_t>(needs.connections);
  if (connections - reserved < needed_connections) {
    problems.push_back(fmt::format(
        "max_connections is {}, of which {} are reserved, and skua needs {}: set max_connections = "
        "{} or more in postgresql.conf and restart the server",
        connections, reserved, needed_connections, needed_connections + reserved + 10));
  }

  // All sessions share the lock table, and each may use more than its share.
  const std::int64_t sharers = connections + setting(session, "max_prepared_transactions");
  const std::int64_t per_transaction = setting(session, "max_locks_per_transaction");
  const auto needed_locks = static_cast<std::int64_t>(needs.locks);
  if (per_transaction * sharers < needed_locks) {
    const auto enough = std::bit_ceil(static_cast<std::uint64_t>(needed_locks / sharers + 1));
    problems.push_back(fmt::format(
        "the lock table holds {} locks and skua needs {}: set max_locks_per_transaction = {} in "
        "postgresql.conf (it is {}) and restart the server",
        per_transaction * sharers, needed_locks, enough, per_transaction));
  }
  if (needs.durable) add_safety_problems(session, problems);
  return problems;
}

std::optional<std::string> pooling_problem(Session& one, const std::string& url) {
  if (!one.is_pooled()) return std::nullopt;
  Session other(url, "skua check");
  const int first = server_process(one);
  for (int round = 0; round < kPoolRounds; ++round) {
    const int before = server_process(one);
    const Transaction transaction(other);
    const int others = server_process(other);
    // In this order: if both sessions share one process, the query would wait for the transaction.
    if (before == others || before != first || server_process(one) != first) {
      return "a pooler in transaction mode is between skua and PostgreSQL (PgBouncer's pool_mode = "
             "transaction, or statement): sessions lose their settings, prepared statements and "
             "the locks that keep a second process away; connect to PostgreSQL itself, or set "
             "pool_mode = session for this database";
    }
  }
  return std::nullopt;
}

}  // namespace skua::store
