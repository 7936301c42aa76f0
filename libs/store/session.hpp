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

/// A failure that PostgreSQL or the connection reported. Its kind (one of three) determines the
/// reaction of the caller (docs/invariants.md).
class SqlError : public std::runtime_error {
 public:
  SqlError(const std::string& message, std::string sqlstate)
      : std::runtime_error(message), sqlstate_(std::move(sqlstate)) {}
  /// Five characters, empty when the connection broke.
  const std::string& sqlstate() const { return sqlstate_; }
  /// Whether the connection broke, or could not be made for another reason than that the server has
  /// too many.
  bool is_unreachable() const;

 private:
  std::string sqlstate_;
};

/// The data is at fault (classes 22, 23, 54, but for 2200H): isolate the event, let the others
/// through.
class DataError : public SqlError {
  using SqlError::SqlError;
};
/// Our statement is at fault (classes 42, 21), or a sequence has no number left (2200H): stop
/// loudly.
class DefectError : public SqlError {
  using SqlError::SqlError;
};
/// The server, or the way to it, is at fault (everything else): retry the whole transaction.
class ServerError : public SqlError {
  using SqlError::SqlError;
};

/// Throws the one of the three that fits the SQLSTATE.
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

/// The answer to a statement, in text form. Owns its data, and lives on the session's thread.
/// Accessors throw std::out_of_range beyond its ends, and std::invalid_argument where the text is
/// not of the type that was asked for, null included.
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
  /// Of a timestamptz.
  Timestamp timestamp(std::size_t row, std::size_t column) const;

 private:
  std::shared_ptr<const Impl> impl_;
};

/// A statement that is prepared once a session, on first use. The name is unique in the program.
struct Statement {
  std::string name;
  std::string sql;
};

/// How long a statement waits for a lock of a row or table, or an advisory lock, before it fails
/// with 55P03. The caller then repeats the transaction, which releases its own locks first.
inline constexpr std::chrono::milliseconds kLockPatience{10'000};

/// One connection to PostgreSQL. Lives on one thread, is never shared, blocks. All functions throw
/// SqlError. After a ServerError that broke the connection `connected()` is false: make a new one.
class Session {
 public:
  /// Connects to `url`, `postgresql://...` or `key=value ...`. Unless the URL has other settings,
  /// it waits 10 s for the server and detects a dead one. Other sessions see `application_name`,
  /// cut to 63 bytes. The session sets everything that it relies on (see set_up_session): commits
  /// wait for the disk, waits for locks end after `kLockPatience`, times are in UTC, and the
  /// planner prefers look-ups by key, which suits our statements; a caller that runs reports must
  /// reset that. Also throws DatabaseChanged, if the database is not the one that this process used
  /// at that address before (DatabaseWatch).
  Session(const std::string& url, const std::string& application_name);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  bool connected() const;
  /// The server's process id of this connection.
  int backend_pid() const { return server_pid_; }
  /// Something between pools connections: the server's process is not the one that greeted us.
  bool is_pooled() const;
  /// Up to where the server's WAL is on disk now is told to the DatabaseWatch.
  void note_wal_position();

  /// Transactions, READ COMMITTED. `rollback` never throws. Outside of one, each call is its own.
  void begin();
  /// Throws DefectError when a statement of the transaction failed, and nothing was committed then.
  void commit();
  void rollback() noexcept;
  bool in_transaction() const;

  /// Runs SQL text without parameters; several statements are allowed outside a transaction block.
  Rows run(const std::string& sql);
  /// Runs a prepared statement.
  Rows execute(const Statement& statement, const Params& params);

  /// Appends rows to a table by binary COPY, which is a statement like others: in a transaction or
  /// one of its own. `rows` has the columns that are named, in that order, each of exactly its
  /// column's type: the server converts nothing.
  void copy(const std::string& table, const std::string& columns, const CopyRows& rows);

  /// Statements wait that long for a lock from now on; 0: without a limit. It is `kLockPatience` at
  /// first.
  void limit_lock_waits(std::chrono::milliseconds patience);

  /// The hash key for the numbers of account and handle locks (store/advisory_lock.hpp). Read from
  /// the database once.
  const SipKey& lock_secret();

  /// How many NULs this session's parameters and copied rows lost so far.
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
