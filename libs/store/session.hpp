#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.hpp"
#include "base/sip_hash.hpp"
#include "base/time.hpp"
#include "store/values.hpp"

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

/// The parameters of one statement, in order.
class Params {
 public:
  Params& int4(std::int32_t value);
  Params& int8(std::int64_t value);
  Params& boolean(bool value);
  Params& text(std::string_view value);
  Params& bytea(ByteView value);
  Params& timestamp(Timestamp value);
  Params& null();
  Params& array(const Array& values);

  struct Value {
    bool is_null = false;
    std::string binary;
  };
  const std::vector<Value>& values() const { return values_; }
  std::size_t nuls_removed() const { return nuls_removed_; }

 private:
  std::vector<Value> values_;
  std::size_t nuls_removed_ = 0;
};

/// The result of a statement, in text form. Owns its data, and lives on the session's thread.
/// Accessors throw std::out_of_range for a row or column that does not exist, and
/// std::invalid_argument for a text that is not of the requested type, null included.
class Rows {
 public:
  class Impl;
  explicit Rows(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

  std::size_t size() const;
  bool empty() const { return size() == 0; }
  std::size_t affected() const;
  bool is_null(std::size_t row, std::size_t column) const;
  std::string_view text(std::size_t row, std::size_t column) const;
  std::optional<std::string> text_or_null(std::size_t row, std::size_t column) const;
  std::int32_t int4(std::size_t row, std::size_t column) const;
  std::int64_t int8(std::size_t row, std::size_t column) const;
  bool boolean(std::size_t row, std::size_t column) const;
  double real(std::size_t row, std::size_t column) const;
  /// For a timestamptz.
  Timestamp timestamp(std::size_t row, std::size_t column) const;

 private:
  std::shared_ptr<const Impl> impl_;
};

/// A statement that a session prepares on first use. Each name is unique in the program.
struct Statement {
  std::string name;
  std::string sql;
};

/// How long a statement waits for a lock of a row or table, or an advisory lock, before it fails
/// with 55P03. The caller then repeats the transaction, which releases its own locks first.
inline constexpr std::chrono::milliseconds kLockPatience{10'000};

/// One connection to PostgreSQL. Lives on one thread, is never shared, and blocks. All functions
/// throw SqlError. After a ServerError that broke the connection `connected()` is false: create a
/// new session.
class Session {
 public:
  /// Connects to `url`, `postgresql://...` or `key=value ...`. Unless the URL has other settings,
  /// it waits 10 s for the server and detects a dead one. Other sessions see `application_name`,
  /// cut to 63 bytes. The session sets everything that it relies on (see set_up_session): commits
  /// wait for the disk, waits for locks end after `kLockPatience`, times are in UTC, and the
  /// planner prefers look-ups by key, which suits our statements. A caller that runs reports must
  /// reset the last one. Also throws DatabaseChanged if the database is not the one that this
  /// process used at that address before (DatabaseWatch).
  Session(const std::string& url, const std::string& application_name);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  bool connected() const;
  /// The process id of the server process for this connection.
  int backend_pid() const { return server_pid_; }
  /// A pooler is in between: the server process differs from the one that accepted the connection.
  bool is_pooled() const;
  /// Reports the server's current WAL position on disk to the DatabaseWatch.
  void note_wal_position();

  /// Transactions, READ COMMITTED. `rollback` never throws. Outside a transaction, each call is a
  /// transaction of its own.
  void begin();
  /// Throws DefectError if a statement of the transaction failed; nothing is committed then.
  void commit();
  void rollback() noexcept;
  bool in_transaction() const;

  /// Runs SQL text without parameters; several statements are allowed outside a transaction block.
  Rows run(const std::string& sql);
  /// Runs a prepared statement.
  Rows execute(const Statement& statement, const Params& params);

  /// Appends rows to a table by binary COPY, which is a statement like any other: inside a
  /// transaction, or as one of its own. `rows` has the named columns in this order, each with
  /// exactly the type of its column, because the server converts nothing.
  void copy(const std::string& table, const std::string& columns, const CopyRows& rows);

  /// Sets how long statements wait for a lock; 0: no limit. Initially `kLockPatience`.
  void limit_lock_waits(std::chrono::milliseconds patience);

  /// The hash key for the numbers of account and handle locks (store/advisory_lock.hpp). Read from
  /// the database once.
  const SipKey& lock_secret();

  /// The number of NULs that were removed from this session's parameters and copied rows.
  std::uint64_t nuls_removed() const;

 private:
  class Impl;
  const std::string url_;
  int server_pid_ = 0;
  bool knows_wal_ = false;
  std::unique_ptr<Impl> impl_;
};

/// A transaction that rolls back unless it was committed.
class Transaction {
 public:
  explicit Transaction(Session& session) : session_(session) { session_.begin(); }
  ~Transaction() {
    if (!done_) session_.rollback();
  }
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void commit() {
    session_.commit();
    done_ = true;
  }

 private:
  Session& session_;
  bool done_ = false;
};

}  // namespace skua::store
