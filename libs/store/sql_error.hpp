#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace skua::store {

/// A failure that PostgreSQL or the connection reported. Its kind (one of three) determines how the
/// caller reacts (docs/invariants.md).
class SqlError : public std::runtime_error {
 public:
  SqlError(const std::string& message, std::string sqlstate)
      : std::runtime_error(message), sqlstate_(std::move(sqlstate)) {}
  /// Five characters; empty if the connection broke.
  const std::string& sqlstate() const { return sqlstate_; }
  /// Whether the connection broke, or could not be made for any reason except too many connections.
  bool is_unreachable() const;

 private:
  std::string sqlstate_;
};

/// The data is wrong (classes 22, 23, 54, except 2200H): isolate the event, and store the others.
class DataError : public SqlError {
  using SqlError::SqlError;
};
/// Our statement is wrong (classes 42, 21), or a sequence is exhausted (2200H): stop with an error.
class DefectError : public SqlError {
  using SqlError::SqlError;
};
/// The server or the connection failed (everything else): retry the whole transaction.
class ServerError : public SqlError {
  using SqlError::SqlError;
};

/// Throws the error class that corresponds to the SQLSTATE.
[[noreturn]] void throw_sql_error(const std::string& message, const std::string& sqlstate);

}  // namespace skua::store
