#include "store/session_setup.hpp"

#include <cstdint>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "store/session_setup.sql.hpp"
#include "store/sqlstate.hpp"

namespace skua::store {
namespace {

/// The longest time between two statements of a transaction: a process that hangs must not keep
/// accounts locked.
constexpr const char* kIdleInTransaction = "1min";

struct Setting {
  const char* name;
  const char* value;
};

/// All settings that the statements of the program and its migrations depend on. Other settings,
/// such as default_tablespace, are the choice of the operator.
constexpr Setting kSettings[] = {
    // Committed data is on disk, and transactions may write.
    {"synchronous_commit", "on"},
    {"default_transaction_read_only", "off"},
    {"default_transaction_isolation", "read committed"},
    // An index build may take hours; a caller that waits for a lock retries.
    {"statement_timeout", "0"},
    {"idle_session_timeout", "0"},
    {"idle_in_transaction_session_timeout", kIdleInTransaction},
    // An error is an answer, which the program judges.
    {"exit_on_error", "off"},
    // A client that cannot be reached any more keeps its locks for at most a minute. These settings
    // have no effect on a local socket.
    {"tcp_keepalives_idle", "30"},
    {"tcp_keepalives_interval", "10"},
    {"tcp_keepalives_count", "3"},
    {"tcp_user_timeout", "60000"},
    // The form of the definitions that the server returns as texts.
    {"quote_all_identifiers", "off"},
    // These settings change the meaning of SQL. All names have a schema, except those of
    // pg_catalog.
    {"search_path", "public"},
    {"standard_conforming_strings", "on"},
    {"backslash_quote", "safe_encoding"},
    {"transform_null_equals", "off"},
    {"array_nulls", "on"},
    {"gin_fuzzy_search_limit", "0"},
    {"plpgsql.extra_errors", "none"},
    {"plpgsql.extra_warnings", "none"},
    // The format of texts.
    {"timezone", "UTC"},
    {"datestyle", "ISO, MDY"},
    {"intervalstyle", "postgres"},
    {"extra_float_digits", "1"},
    {"bytea_output", "hex"},
    {"client_encoding", "UTF8"},
    {"client_min_messages", "warning"},
    // Our statements look rows up by key. A cached plan from when a table was small would scan the
    // whole table after it has grown to millions of rows, until the server's statistics notice.
    {"jit", "off"},
    {"enable_seqscan", "off"},
    {"enable_hashjoin", "off"},
    {"enable_mergejoin", "off"},
    {"enable_nestloop", "on"},
    {"enable_indexscan", "on"},
    {"enable_indexonlyscan", "on"},
    {"enable_bitmapscan", "on"},
};

/// Settings that not every server has, or that an ordinary role may not set: they are set only if
/// the server has another value. If the role then may not set it, the session fails: without the
/// triggers of the database, for example, the filter would not apply.
constexpr Setting kRareSettings[] = {
    {"transaction_timeout", "0"},  // PostgreSQL 17
    {"restrict_nonsystem_relation_kind", ""},
    {"session_replication_role", "origin"},
};

std::string settings(const std::string& application_name) {
  std::string name;
  // The server may still treat a backslash as an escape.
  for (const char c : application_name.substr(0, 63)) {
    if (c == '\'') name += '\'';
    name += c == '\\' ? '?' : c;
  }
  std::string sql = fmt::format("SET application_name = '{}'; SET lock_timeout = {}; ", name,
                                kLockPatience.count());
  for (const Setting& one : kSettings) {
    sql += fmt::format("SET {} = '{}'; ", one.name, one.value);
  }
  for (const Setting& one : kRareSettings) {
    sql += fmt::format(
        "SELECT set_config('{0}', '{1}', false) "
        "WHERE current_setting('{0}', true) <> '{1}'; ",
        one.name, one.value);
  }
  return sql;
}

/// A row of the statements in session_setup.sql. A role may not read all of the values.
struct ServerIdentity {
  std::int32_t server_pid;
  bool in_recovery;
  std::string oid;
  bool has_token;
  std::optional<std::string> timeline;
  std::optional<std::int64_t> wal_end;
  std::optional<std::int64_t> wal_flushed;
  std::optional<std::string> system;
};

// These statements are not prepared: a pooler in transaction mode, which is not excluded yet, loses
// prepared statements.

/// Takes one round trip if the role may read all values.
Rows ask(Session& session, const std::string& application_name) {
  const std::string before = settings(application_name);
  for (const Statement* identity : {&sql::session_identity, &sql::session_identity_of_role}) {
    try {
      return session.run(before + identity->sql);
    } catch (const DefectError& error) {
      if (error.sqlstate() != kInsufficientPrivilege) throw;
    }
  }
  return session.run(before + sql::session_identity_without_wal.sql);
}

std::optional<std::string> read_token(Session& session) {
  try {
    const auto tokens = rows_of<std::string>(session.run(sql::session_token.sql));
    return tokens.empty() ? std::nullopt : std::optional(tokens.front());
  } catch (const DefectError&) {
    // A role that may not read these values.
    return std::nullopt;
  }
}

}  // namespace

SessionFacts set_up_session(Session& session, const std::string& application_name) {
  auto identity = rows_of<ServerIdentity>(ask(session, application_name)).at(0);
  SessionFacts facts;
  facts.server_pid = identity.server_pid;
  DatabaseIdentity& database = facts.database;
  database.in_recovery = identity.in_recovery;
  database.oid = std::move(identity.oid);
  database.timeline = std::move(identity.timeline);
  database.wal_end = identity.wal_end;
  database.wal_flushed = identity.wal_flushed;
  database.system = std::move(identity.system);
  if (identity.has_token) database.token = read_token(session);
  return facts;
}

}  // namespace skua::store
