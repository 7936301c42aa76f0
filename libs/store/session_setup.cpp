#include "store/session_setup.hpp"

#include <cstdint>
#include <optional>

#include <fmt/format.h>

#include "store/sqlstate.hpp"

namespace skua::store {
namespace {

/// The longest time between two statements of a transaction: a process that hangs must not keep
/// accounts locked.
constexpr const char* kIdleInTransaction = "1min";

/// The position in the WAL, in bytes from its beginning.
std::string wal_bytes(const std::string& function) {
  return "CASE WHEN NOT pg_is_in_recovery() THEN (" + function + " - '0/0'::pg_lsn)::int8 END";
}

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

/// Which values a role may read.
enum class Question : std::uint8_t { All, WithoutSystem, WithoutWal };

std::string identity(Question question) {
  std::string sql =
      "SELECT pg_backend_pid(), pg_is_in_recovery(), "
      "(SELECT oid FROM pg_database WHERE datname = current_database()), "
      "EXISTS (SELECT FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace "
      "WHERE n.nspname = 'skua' AND c.relname = 'database_token'), ";
  if (question == Question::WithoutWal) return sql + "NULL, NULL, NULL, NULL";
  sql +=
      "CASE WHEN NOT pg_is_in_recovery() THEN "
      "left(pg_walfile_name(pg_current_wal_insert_lsn()), 8) END, " +
      wal_bytes("pg_current_wal_insert_lsn()") + ", " + wal_bytes("pg_current_wal_flush_lsn()");
  return sql + (question == Question::All
                    ? ", (SELECT system_identifier::text FROM pg_control_system())"
                    : ", NULL");
}

/// Takes one round trip if the role may read all values.
Rows ask(Session& session, const std::string& application_name) {
  const std::string before = settings(application_name);
  for (const Question question : {Question::All, Question::WithoutSystem}) {
    try {
      return session.run(before + identity(question));
    } catch (const DefectError& error) {
      if (error.sqlstate() != kInsufficientPrivilege) throw;
    }
  }
  return session.run(before + identity(Question::WithoutWal));
}

std::optional<std::string> read_token(Session& session) {
  try {
    const Rows rows = session.run("SELECT token FROM skua.database_token");
    return rows.empty() ? std::nullopt : rows.text_or_null(0, 0);
  } catch (const DefectError&) {
    // A role that may not read these values.
    return std::nullopt;
  }
}

std::optional<std::int64_t> int8_or_null(const Rows& rows, std::size_t column) {
  if (rows.is_null(0, column)) return std::nullopt;
  return rows.int8(0, column);
}

}  // namespace

SessionFacts set_up_session(Session& session, const std::string& application_name) {
  const Rows rows = ask(session, application_name);
  SessionFacts facts;
  facts.server_pid = rows.int4(0, 0);
  DatabaseIdentity& database = facts.database;
  database.in_recovery = rows.boolean(0, 1);
  database.oid = rows.text(0, 2);
  database.timeline = rows.text_or_null(0, 4);
  database.wal_end = int8_or_null(rows, 5);
  database.wal_flushed = int8_or_null(rows, 6);
  database.system = rows.text_or_null(0, 7);
  if (rows.boolean(0, 3)) database.token = read_token(session);
  return facts;
}

}  // namespace skua::store
