#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace skua::postgres {

/// sequence_generator_limit_exceeded: the sequence is exhausted.
inline constexpr std::string_view kSequenceExhausted = "2200H";
/// unique_violation: a row with this key exists.
inline constexpr std::string_view kUniqueViolation = "23505";
/// insufficient_privilege.
inline constexpr std::string_view kInsufficientPrivilege = "42501";
/// out_of_memory in shared memory: the lock table is full.
inline constexpr std::string_view kOutOfMemory = "53200";
/// read_only_sql_transaction.
inline constexpr std::string_view kReadOnly = "25006";
/// disk_full.
inline constexpr std::string_view kDiskFull = "53100";
/// too_many_connections.
inline constexpr std::string_view kTooManyConnections = "53300";
/// serialization_failure: a row changed after the snapshot of the transaction.
inline constexpr std::string_view kSerializationFailure = "40001";
/// deadlock_detected: the server ended one of the transactions that waited for each other.
inline constexpr std::string_view kDeadlock = "40P01";
/// query_canceled: a session or `statement_timeout` ended the statement.
inline constexpr std::string_view kQueryCanceled = "57014";
/// lock_not_available: a lock was not free within `lock_timeout`.
inline constexpr std::string_view kLockNotAvailable = "55P03";

/// Returns an error message for a column of a table: its first 500 characters, printable. The limit
/// exists because a host may answer with a whole HTML page.
std::string error_text(std::string_view message);

/// A failure that PostgreSQL or the connection reported. One of three kinds determines how the
/// caller reacts (docs/invariants.md).
class SqlError : public std::runtime_error {
 public:
  SqlError(const std::string& message, std::string sqlstate)
      : std::runtime_error(message), sqlstate_(std::move(sqlstate)) {}
  /// The SQLSTATE has five characters, or none if the connection broke.
  const std::string& sqlstate() const { return sqlstate_; }
  /// Whether the connection broke, or an attempt to connect failed for any reason except too many
  /// connections.
  bool is_unreachable() const;

 private:
  std::string sqlstate_;
};

/// The data is wrong (classes 22, 23, 54, except 2200H). The caller isolates the event and stores
/// the others.
class DataError : public SqlError {
  using SqlError::SqlError;
};
/// Our statement is wrong (classes 42, 21), or a sequence is exhausted (2200H). The caller stops
/// with an error.
class DefectError : public SqlError {
  using SqlError::SqlError;
};
/// The server or the connection failed (all other classes). The caller retries the whole
/// transaction.
class ServerError : public SqlError {
  using SqlError::SqlError;
};

/// Throws the error class that corresponds to the SQLSTATE.
[[noreturn]] void throw_sql_error(const std::string& message, const std::string& sqlstate);

}  // namespace skua::postgres
