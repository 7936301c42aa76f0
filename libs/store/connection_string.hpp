#pragma once

#include <optional>
#include <string>

namespace skua::store {

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

}  // namespace skua::store
