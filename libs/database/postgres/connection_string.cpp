#include "postgres/connection_string.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>
#include <libpq-fe.h>

#include "base/random.hpp"
#include "base/text.hpp"
#include "postgres/connection_string.sql.hpp"
#include "postgres/sql_error.hpp"

namespace skua::postgres {

namespace {

constexpr std::string_view kHidden = "***";
constexpr std::array<std::string_view, 6> kSslModes = {"disable", "allow",     "prefer",
                                                       "require", "verify-ca", "verify-full"};

using ConnectionOptions = std::unique_ptr<PQconninfoOption, decltype(&PQconninfoFree)>;

/// Returns null for a malformed text, and writes the reason to `problem`.
ConnectionOptions parse_options(const std::string& text, std::string& problem) {
  char* message = nullptr;
  ConnectionOptions options(PQconninfoParse(text.c_str(), &message), &PQconninfoFree);
  if (!options) {
    problem = message == nullptr ? "out of memory" : std::string(skua::trimmed(message));
    PQfreemem(message);
  }
  return options;
}

bool is_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  return error == std::errc() && end == text.data() + text.size() && port != 0;
}

/// Whether the list has valid ports, separated by commas. An empty port is the default port.
bool are_ports(std::string_view list) {
  for (;;) {
    const auto comma = list.find(',');
    const auto port = list.substr(0, comma);
    if (!port.empty() && !is_port(port)) return false;
    if (comma == std::string_view::npos) return true;
    list.remove_prefix(comma + 1);
  }
}

/// Returns the problem of a value that libpq checks only when it connects. Retrying would never
/// help.
std::optional<std::string> value_problem(const PQconninfoOption& option) {
  if (option.val == nullptr) return std::nullopt;
  const std::string_view name = option.keyword;
  const std::string_view value = option.val;
  if (name == "port" && !are_ports(value)) {
    return fmt::format("the port must be a number from 1 to 65535, not '{}'", value);
  }
  if (name == "sslmode" &&
      std::find(kSslModes.begin(), kSslModes.end(), value) == kSslModes.end()) {
    return fmt::format("sslmode must be one of {}, not '{}'", fmt::join(kSslModes, ", "), value);
  }
  return std::nullopt;
}

/// Returns `name='value'`.
std::string pair_text(std::string_view name, std::string_view value) {
  std::string text = fmt::format("{}='", name);
  for (const char c : value) {
    if (c == '\'' || c == '\\') text += '\\';
    text += c;
  }
  return text + "'";
}

constexpr std::size_t kLongestName = 63;
/// The length of the part of the role that is kept if the host name is long.
constexpr std::size_t kRoleKept = 16;

/// The longest time between two statements of a transaction. Without a limit, a process that hangs
/// would keep accounts locked.
constexpr const char* kIdleInTransaction = "1min";

struct Setting {
  const char* name;
  const char* value;
};

/// All settings that the statements and migrations of the program depend on. Other settings, such
/// as default_tablespace, are the choice of the operator.
constexpr Setting kSettings[] = {
    // Committed data must be on disk, and transactions must be able to write.
    {"synchronous_commit", "on"},
    {"default_transaction_read_only", "off"},
    {"default_transaction_isolation", "read committed"},
    // An index build may take hours, so statements have no time limit. A caller that waits for a
    // lock retries.
    {"statement_timeout", "0"},
    {"idle_session_timeout", "0"},
    {"idle_in_transaction_session_timeout", kIdleInTransaction},
    // An error must not end the session, because the program decides about the error.
    {"exit_on_error", "off"},
    // A client that the server cannot reach any more keeps its locks for at most a minute. These
    // settings have no effect on a local socket.
    {"tcp_keepalives_idle", "30"},
    {"tcp_keepalives_interval", "10"},
    {"tcp_keepalives_count", "3"},
    {"tcp_user_timeout", "60000"},
    // This setting fixes the form of the definitions that the server returns as texts.
    {"quote_all_identifiers", "off"},
    // These settings change the meaning of SQL. All names in our SQL have a schema, except those of
    // pg_catalog.
    {"search_path", "public"},
    {"standard_conforming_strings", "on"},
    {"backslash_quote", "safe_encoding"},
    {"transform_null_equals", "off"},
    {"array_nulls", "on"},
    {"gin_fuzzy_search_limit", "0"},
    {"plpgsql.extra_errors", "none"},
    {"plpgsql.extra_warnings", "none"},
    // These settings fix the format of texts.
    {"timezone", "UTC"},
    {"datestyle", "ISO, MDY"},
    {"intervalstyle", "postgres"},
    {"extra_float_digits", "1"},
    {"bytea_output", "hex"},
    {"client_encoding", "UTF8"},
    {"client_min_messages", "warning"},
    // Our statements find rows by key. A plan that was cached when a table was small would scan the
    // whole table after the table has grown to millions of rows, until the server's statistics
    // change.
    {"jit", "off"},
    {"enable_seqscan", "off"},
    {"enable_hashjoin", "off"},
    {"enable_mergejoin", "off"},
    {"enable_nestloop", "on"},
    {"enable_indexscan", "on"},
    {"enable_indexonlyscan", "on"},
    {"enable_bitmapscan", "on"},
};

/// Settings that only some servers have, or that an ordinary role may not set. They are set only if
/// the server has another value. If the role may not set one of them, the session fails: without
/// the triggers of the database, for example, the filter would not apply.
constexpr Setting kRareSettings[] = {
    {"transaction_timeout", "0"},  // PostgreSQL 17
    {"restrict_nonsystem_relation_kind", ""},
    {"session_replication_role", "origin"},
};

std::string settings(const std::string& application_name) {
  std::string name;
  // The server may still treat a backslash as an escape, so a backslash becomes a question mark.
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

/// A row of the statements in connection_string.sql. A role may lack the right to read some of the
/// values.
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

// The statements that set up a session are not prepared. At this point a pooler in transaction
// mode, which loses prepared statements, is still possible.

/// Sets up the session and reads its identity in one round trip, if the role may read all values.
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

/// A row of skua.database_token.
struct DatabaseToken {
  std::string token;
  std::optional<std::int64_t> groups_version;
};

void read_token(Session& session, DatabaseIdentity& database) {
  try {
    for (auto& [token, groups_version] :
         rows_of<DatabaseToken>(session.run(sql::session_token.sql))) {
      database.token = std::move(token);
      database.groups_version = groups_version;
    }
  } catch (const DefectError&) {
    // The role may not read this table.
  }
}

}  // namespace

std::string without_password(std::string text) {
  const auto scheme = text.find("://");
  const auto at = scheme == std::string::npos ? scheme : text.rfind('@');
  if (at != std::string::npos && at > scheme) {
    const auto colon = text.find(':', scheme + 3);
    if (colon < at) text.replace(colon + 1, at - colon - 1, kHidden);
  }
  constexpr std::string_view kParameter = "password";
  for (auto found = text.find(kParameter); found != std::string::npos;
       found = text.find(kParameter, found + kParameter.size())) {
    const auto value = text.find_first_not_of(" =", found + kParameter.size());
    if (value == std::string::npos) break;
    const bool is_quoted = text[value] == '\'';
    const auto end = is_quoted ? text.find('\'', value + 1) : text.find_first_of(" &", value);
    const auto behind = end == std::string::npos ? text.size() : end + (is_quoted ? 1 : 0);
    text.replace(value, behind - value, kHidden);
  }
  return text;
}

std::optional<std::string> connection_string_problem(const std::string& text) {
  if (skua::trimmed(text).empty()) return "it is empty";
  std::string problem;
  const ConnectionOptions options = parse_options(text, problem);
  if (!options) {
    // libpq repeats the string in its message, so it gets only the part that may be shown.
    std::string shown;
    if (parse_options(without_password(text), shown)) {
      return "the password is malformed: in a URL, special characters are percent-encoded";
    }
    return shown;
  }
  for (const PQconninfoOption* option = options.get(); option->keyword != nullptr; ++option) {
    if (auto wrong = value_problem(*option)) return wrong;
  }
  return std::nullopt;
}

ConnectionNames connection_names(const std::string& text) {
  std::string problem;
  const ConnectionOptions given = parse_options(text, problem);
  const ConnectionOptions defaults(PQconndefaults(), &PQconninfoFree);
  const auto value = [](const ConnectionOptions& options, std::string_view name) {
    for (const PQconninfoOption* one = options.get(); one && one->keyword != nullptr; ++one) {
      if (one->keyword == name && one->val != nullptr) return std::string(one->val);
    }
    return std::string();
  };
  const auto named = [&](std::string_view name) {
    std::string found = value(given, name);
    return found.empty() ? value(defaults, name) : found;
  };
  ConnectionNames names;
  names.user = named("user");
  names.database = named("dbname");
  if (names.database.empty()) names.database = names.user;
  names.has_password = !value(given, "password").empty();
  return names;
}

ConnectionOptionList connection_options(const std::string& text) {
  std::string problem;
  const ConnectionOptions options = parse_options(text, problem);
  ConnectionOptionList list;
  for (const PQconninfoOption* option = options.get(); option && option->keyword; ++option) {
    if (option->val == nullptr || *option->val == '\0') continue;
    list.names.emplace_back(option->keyword);
    list.values.emplace_back(option->val);
  }
  return list;
}

std::string with_database(const std::string& text, const std::string& database) {
  std::string problem;
  const ConnectionOptions options = parse_options(text, problem);
  std::string result = pair_text("dbname", database);
  for (const PQconninfoOption* one = options.get(); one && one->keyword != nullptr; ++one) {
    if (one->val == nullptr || std::string_view(one->keyword) == "dbname") continue;
    result += ' ' + pair_text(one->keyword, one->val);
  }
  return result;
}

const std::string& process_token() {
  static const std::string token = random_token();
  return token;
}

std::string process_name(const std::string& role) {
  std::array<char, 256> host{};
  if (gethostname(host.data(), host.size() - 1) != 0) host[0] = '?';
  const std::string end = " " + process_token();
  const std::size_t room = kLongestName - end.size();
  std::string where = " pid " + std::to_string(getpid()) + " at " + host.data();
  where = where.substr(0, room - std::min(role.size(), kRoleKept));
  return role.substr(0, room - where.size()) + where + end;
}

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
  if (identity.has_token) read_token(session, database);
  return facts;
}

}  // namespace skua::postgres
