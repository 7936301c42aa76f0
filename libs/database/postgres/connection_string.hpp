#pragma once

#include <optional>
#include <string>

#include "postgres/database_watch.hpp"
#include "postgres/session.hpp"

namespace skua::postgres {

/// The error in a connection string (`postgresql://...` or `key=value ...`), for users and without
/// its password; nothing if libpq can parse it. Does not connect.
std::optional<std::string> connection_string_problem(const std::string& text);

/// The connection string with `***` instead of its password, for messages. In a malformed string it
/// hides everything that may be a password.
std::string without_password(std::string text);

/// What a connection string names.
struct ConnectionNames {
  std::string user;
  std::string database;
  bool has_password = false;
};

/// Reads a connection string without a problem. What it does not name is what libpq uses: the
/// environment, the user of the operating system, and the name of the user for the database.
ConnectionNames connection_names(const std::string& text);

/// The same connection to another database.
std::string with_database(const std::string& text, const std::string& database);

/// Identifies this process: 128 random bits, chosen once, as 22 characters of base64url. A process
/// number is not enough: in a container it is 1 after every restart, with the same host name.
const std::string& process_token();

/// The name of this process for other sessions in `pg_stat_activity`: `<role> pid N at HOST TOKEN`,
/// cut to the 63 bytes that PostgreSQL stores. The token is always complete.
std::string process_name(const std::string& role);

/// What the server reported while the session was set up.
struct SessionFacts {
  DatabaseIdentity database;
  /// The server process of this connection.
  int server_pid = 0;
};

/// Sets the name of a new session and all settings that the program relies on, independent of the
/// server, the database, the role and the environment. Reads the identity of the database. Two
/// round trips. Throws SqlError.
SessionFacts set_up_session(Session& session, const std::string& application_name);

}  // namespace skua::postgres
