#pragma once

#include <optional>
#include <string>
#include <vector>

#include "postgres/database_watch.hpp"
#include "postgres/session.hpp"

namespace skua::postgres {

/// Returns the error in a connection string (`postgresql://...` or `key=value ...`), for users and
/// without the password, or nothing if libpq can parse the string. Does not connect.
std::optional<std::string> connection_string_problem(const std::string& text);

/// Returns the connection string with `***` instead of its password, for messages. In a malformed
/// string everything that may be a password is hidden.
std::string without_password(std::string text);

/// The names in a connection string.
struct ConnectionNames {
  std::string user;
  std::string database;
  bool has_password = false;
};

/// Reads a connection string without a problem. Names that the string does not have are those that
/// libpq uses: from the environment, the user of the operating system, and for the database the
/// name of the user.
ConnectionNames connection_names(const std::string& text);

/// The options of a connection string that have a value, by their names in libpq.
struct ConnectionOptionList {
  std::vector<std::string> names;
  std::vector<std::string> values;
};

/// Returns the options of a connection string without a problem, as the string has them.
ConnectionOptionList connection_options(const std::string& text);

/// Returns the same connection string for another database.
std::string with_database(const std::string& text, const std::string& database);

/// Returns a text that identifies this process: 128 random bits, chosen once, as 22 characters of
/// base64url. A process number is not enough: in a container it is 1 after every restart, with the
/// same host name.
const std::string& process_token();

/// Returns the name of this process for other sessions in `pg_stat_activity`: `<role> pid N at HOST
/// TOKEN`, cut to the 63 bytes that PostgreSQL stores. The token is always complete.
std::string process_name(const std::string& role);

/// The facts that the server reported while the session was set up.
struct SessionFacts {
  DatabaseIdentity database;
  /// The process id of the server process for this connection.
  int server_pid = 0;
};

/// Sets the name of a new session and all settings that the program relies on, whatever the server,
/// the database, the role and the environment have set. Reads the identity of the database. Takes
/// two round trips. Throws SqlError.
SessionFacts set_up_session(Session& session, const std::string& application_name);

}  // namespace skua::postgres
