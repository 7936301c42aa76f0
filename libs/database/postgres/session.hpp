#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/seeded_hash.hpp"
#include "postgres/parameters.hpp"
#include "postgres/rows.hpp"
#include "postgres/sql_error.hpp"

namespace skua::postgres {

/// A statement that a session prepares on its first use. Each name is unique in the program. Most
/// statements are in the SQL files of a library, which the build makes into constants of this type
/// (libs/README.md).
struct Statement {
  std::string name;
  std::string sql;
};

/// The time that a statement waits for a lock of a row or table, or for an advisory lock, before it
/// fails with 55P03. The caller then repeats the transaction, which first releases the locks of the
/// transaction.
inline constexpr std::chrono::milliseconds kLockPatience{10'000};

/// One connection to PostgreSQL. Lives on one thread, is never shared, and blocks. All functions
/// throw SqlError. After a ServerError that broke the connection, `connected()` is false, and the
/// caller must create a new session.
class Session {
 public:
  /// Connects to `url`, `postgresql://...` or `key=value ...`. Unless the URL has other settings,
  /// the session waits 10 s for the server and detects a dead server. Other sessions see
  /// `application_name`, cut to 63 bytes. The session sets everything that it relies on (see
  /// set_up_session). Commits wait for the disk, waits for locks end after `kLockPatience`, and
  /// times are in UTC. The planner prefers look-ups by key, which suits our statements. A caller
  /// that runs reports must reset the planner's setting. Also throws DatabaseChanged if the
  /// database is not the one that this process used at that address before (DatabaseWatch).
  Session(const std::string& url, const std::string& application_name);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  bool connected() const;
  /// The process id of the server process for this connection.
  int backend_pid() const { return server_pid_; }
  /// Whether a pooler is between the session and PostgreSQL, so that the server process differs
  /// from the one that accepted the connection.
  bool is_pooled() const;
  /// Reports the server's current WAL position on disk to the DatabaseWatch.
  void note_wal_position();

  /// Begins and ends READ COMMITTED transactions. `rollback` never throws. Outside of a
  /// transaction, each call is a transaction of its own.
  void begin();
  /// Throws DefectError if a statement of the transaction failed; nothing is committed then.
  void commit();
  void rollback() noexcept;
  bool in_transaction() const;

  /// Throws DatabaseChanged if the groups of accounts of the database are others than when this
  /// session connected. Otherwise they stay the same until the end of the transaction.
  void require_same_groups();

  /// Runs SQL text without parameters; several statements are allowed outside a transaction block.
  Rows run(const std::string& sql);
  /// Runs one statement without parameters. The extended protocol refuses a text with several
  /// statements, so that SQL of a user within the text cannot end the statement.
  Rows run_single(const std::string& sql);
  /// Runs a prepared statement. The first use of a statement prepares it. Throws DefectError if a
  /// parameter has another type than the statement requires.
  Rows execute(const Statement& statement, const Params& params);
  /// Runs a prepared statement with $1, $2... as arguments: integers, bool, double, text, bytes,
  /// Timestamp, Array, or std::optional of these.
  template <class... Arguments>
  Rows execute(const Statement& statement, const Arguments&... arguments) {
    return execute(statement, params_of(arguments...));
  }
  /// Returns all rows of the answer as structs (postgres/rows.hpp).
  template <class Row, class... Arguments>
  std::vector<Row> query(const Statement& statement, const Arguments&... arguments) {
    return rows_of<Row>(execute(statement, arguments...));
  }
  /// Returns the first row of the answer, if there is one.
  template <class Row, class... Arguments>
  std::optional<Row> query_first(const Statement& statement, const Arguments&... arguments) {
    std::vector<Row> rows = query<Row>(statement, arguments...);
    if (rows.empty()) return std::nullopt;
    return std::move(rows.front());
  }
  /// Returns the row of a statement that always answers with one row. Throws std::out_of_range if
  /// the answer has none.
  template <class Row, class... Arguments>
  Row query_one(const Statement& statement, const Arguments&... arguments) {
    return std::move(query<Row>(statement, arguments...).at(0));
  }

  /// Prepares a statement without running it. A test calls this function for all statements.
  void prepare(const Statement& statement);

  /// Appends rows to a table by binary COPY, inside a transaction or as a transaction of its own.
  /// `rows` has the named columns in this order, each with exactly the type of its column, because
  /// the server converts nothing.
  void copy(const std::string& table, const std::string& columns, const CopyRows& rows);

  /// The function that accepts the next bytes of a COPY.
  using PutCopy = std::function<void(std::string_view)>;
  /// Runs `COPY target FROM STDIN` with the text rows that `give` passes to its argument. If `give`
  /// throws, no row is stored, and the exception leaves the function; the session stays usable.
  void copy_in(const std::string& target, const std::function<void(const PutCopy&)>& give);

  /// Runs `COPY (query) TO STDOUT (options)` and passes each row to `take`, as the server sends it,
  /// with its line end. Returns the number of rows. The memory for one row at a time is used. If
  /// `take` throws, the statement is cancelled, and the exception leaves the function; the session
  /// stays usable.
  std::uint64_t copy_out(const std::string& query, const std::string& options,
                         const std::function<void(std::string_view)>& take);

  /// Sets how long statements wait for a lock. 0 means no limit. The initial limit is
  /// `kLockPatience`.
  void limit_lock_waits(std::chrono::milliseconds patience);

  /// Returns the hash key for the numbers of account and handle locks (postgres/locks.hpp). The
  /// session reads the key from the database once.
  const SipKey& lock_secret();

  /// The number of NULs that were removed from this session's parameters and copied rows.
  std::uint64_t nuls_removed() const;

 private:
  class Impl;
  const std::string url_;
  int server_pid_ = 0;
  bool knows_wal_ = false;
  std::optional<std::int64_t> groups_version_;
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

/// A database session that connects on its first use, and reconnects after it broke. One thread at
/// a time.
class LazySession {
 public:
  /// `name` is shown in `pg_stat_activity`. `prepare` is called with each new session before its
  /// first use. If `prepare` throws, `get` throws the same exception. A broken session still exists
  /// while its successor is prepared.
  LazySession(std::string database_url, std::string name,
              std::function<void(Session&)> prepare = nullptr)
      : database_url_(std::move(database_url)),
        name_(std::move(name)),
        prepare_(std::move(prepare)) {}

  /// Returns the session. Throws SqlError if it cannot connect.
  Session& get() {
    if (!is_connected()) {
      auto session = std::make_unique<Session>(database_url_, name_);
      if (prepare_) prepare_(*session);
      session_ = std::move(session);
    }
    return *session_;
  }

  /// Whether `get` would return without connecting.
  bool is_connected() const { return session_ && session_->connected(); }
  /// Closes the session, so that the next `get` connects.
  void reset() { session_.reset(); }

 private:
  const std::string database_url_;
  const std::string name_;
  const std::function<void(Session&)> prepare_;
  std::unique_ptr<Session> session_;
};

}  // namespace skua::postgres
