#include "postgres/session.hpp"

#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>

#include <pqxx/pqxx>

#include "base/log.hpp"
#include "base/time.hpp"
#include "postgres/connection_string.hpp"
#include "postgres/database_watch.hpp"
#include "postgres/impl/connection.hpp"
#include "postgres/impl/rows_impl.hpp"
#include "postgres/outage.hpp"
#include "postgres/session.sql.hpp"
#include "postgres/sql_error.hpp"

namespace skua::postgres {

namespace {

/// The defaults for the connection string. Without them a server that vanished would block a worker
/// for hours.
constexpr const char* kDefaults[][2] = {
    {"connect_timeout", "10"}, {"keepalives_idle", "30"},     {"keepalives_interval", "10"},
    {"keepalives_count", "3"}, {"tcp_user_timeout", "60000"},
};

/// The number of transactions after which statements are planned again. Prepared statements keep
/// their plans, which depend on the table sizes at planning time, and tables grow a thousandfold
/// before the server's statistics show the growth.
constexpr std::uint64_t kTransactionsAPlan = 200;

/// The two halves of the secret.
struct LockSecret {
  std::int64_t first;
  std::int64_t second;
};

std::string with_defaults(const std::string& url) {
  std::string result = url;
  const bool is_uri = url.starts_with("postgres://") || url.starts_with("postgresql://");
  for (const auto& [name, value] : kDefaults) {
    if (url.find(std::string(name) + "=") != std::string::npos) continue;
    if (is_uri) {
      result += result.find('?') == std::string::npos ? '?' : '&';
    } else {
      result += ' ';
    }
    result += std::string(name) + "=" + value;
  }
  return result;
}

/// Runs `f`, and converts libpqxx's exceptions to our three error classes. libpqxx has its own
/// classes for some errors of the server, which have no SQLSTATE in version 6.
template <class F>
decltype(auto) translating(F&& f) {
  try {
    return f();
  } catch (const pqxx::insufficient_privilege& e) {
    throw_sql_error(one_line(e.what()), std::string(kInsufficientPrivilege));
  } catch (const pqxx::too_many_connections& e) {
    throw_sql_error(one_line(e.what()), std::string(kTooManyConnections));
  } catch (const pqxx::deadlock_detected& e) {
    throw_sql_error(one_line(e.what()), std::string(kDeadlock));
  } catch (const pqxx::serialization_failure& e) {
    throw_sql_error(one_line(e.what()), std::string(kSerializationFailure));
  } catch (const pqxx::statement_completion_unknown& e) {
    throw_sql_error(one_line(e.what()), "40003");
  } catch (const pqxx::transaction_rollback& e) {
    throw_sql_error(one_line(e.what()), "40000");
  } catch (const pqxx::sql_error& e) {
    throw_sql_error(one_line(e.what()), e.sqlstate());
  } catch (const pqxx::failure& e) {
    throw_sql_error(one_line(e.what()), "");
  } catch (const std::logic_error& e) {
    // The cause is a wrong use of libpqxx, or a bug of libpqxx.
    throw DefectError(one_line(e.what()), "");
  }
}

}  // namespace

class Session::Impl {
 public:
  explicit Impl(const std::string& url) : connection(with_defaults(url)) {}

  template <class F>
  Rows perform(F&& f) {
    return noting(
        [&] { return translating([&] { return Rows(std::make_shared<const Rows::Impl>(f())); }); });
  }

  /// Runs one statement and records whether it failed.
  template <class F>
  auto noting(F&& f) {
    try {
      auto outcome = f();
      failed = false;
      return outcome;
    } catch (const SqlError& e) {
      failed = in_transaction;
      database_problems().met(e, std::chrono::steady_clock::now());
      // The server has ended the session, even if the socket does not show this yet.
      if (e.sqlstate().starts_with("57P") || e.sqlstate().starts_with("08")) broken = true;
      throw;
    }
  }

  Connection connection;
  std::uint64_t nuls_removed = 0;
  std::optional<SipKey> lock_secret;
  bool in_transaction = false;
  std::uint64_t transactions = 0;
  /// Whether a statement of this transaction failed and none succeeded after it.
  bool failed = false;
  bool broken = false;
};

Session::Session(const std::string& url, const std::string& application_name) : url_(url) {
  const Timestamp began = system_clock().now();
  DatabaseWatch& watch = database_watch();
  const auto flushed = watch.flushed(url);
  try {
    impl_ = translating([&] { return std::make_unique<Impl>(url); });
    const SessionFacts facts = set_up_session(*this, application_name);
    server_pid_ = facts.server_pid;
    knows_wal_ = facts.database.wal_flushed.has_value();
    groups_version_ = facts.database.groups_version;
    watch.connected(url, facts.database, flushed);
    outage_monitor().connected();
  } catch (const DatabaseChanged&) {
    outage_monitor().connected();
    throw;
  } catch (const SqlError& error) {
    database_problems().met(error, std::chrono::steady_clock::now());
    if (error.is_unreachable()) outage_monitor().attempt_failed(began, error.what());
    throw;
  }
}

Session::~Session() = default;

bool Session::connected() const {
  return !impl_->broken && impl_->connection.is_open();
}

bool Session::is_pooled() const {
  return impl_->connection.backend_pid() != server_pid_;
}

void Session::note_wal_position() {
  if (!knows_wal_) return;
  database_watch().note_flushed(url_, query_one<std::int64_t>(sql::session_wal_flushed));
}

void Session::require_same_groups() {
  const auto version = query_first<std::int64_t>(sql::session_groups_version);
  if (version != groups_version_) database_watch().groups_changed(url_);
}

void Session::begin() {
  if (impl_->in_transaction) throw DefectError("a transaction is open already", "25001");
  if (++impl_->transactions % kTransactionsAPlan == 0) run("DISCARD PLANS");
  run("BEGIN ISOLATION LEVEL READ COMMITTED");
  impl_->in_transaction = true;
}

void Session::commit() {
  if (!impl_->in_transaction) throw DefectError("no transaction is open", "25P01");
  if (impl_->failed) {
    // The server would answer COMMIT with a rollback, and report success.
    rollback();
    throw DefectError("commit of a transaction in which a statement failed", "25P02");
  }
  impl_->in_transaction = false;
  run("COMMIT");
}

void Session::rollback() noexcept {
  if (!impl_->in_transaction) return;
  impl_->in_transaction = false;
  impl_->failed = false;
  if (!connected()) return;
  try {
    run("ROLLBACK");
  } catch (const std::exception& e) {
    // The state of the connection is unknown, so the connection must not be used again.
    impl_->broken = true;
    try {
      logger("store")->debug("rollback: {}", e.what());
    } catch (...) {
      // The connection is marked as broken, so the error has no further consequence.
    }
  }
}

bool Session::in_transaction() const {
  return impl_->in_transaction;
}

Rows Session::run(const std::string& sql) {
  return impl_->perform([&] { return impl_->connection.run(sql); });
}

Rows Session::run_single(const std::string& sql) {
  return impl_->perform([&] { return impl_->connection.run_single(sql); });
}

Rows Session::execute(const Statement& statement, const Params& params) {
  impl_->nuls_removed += params.nuls_removed();
  return impl_->perform(
      [&] { return impl_->connection.execute(statement.name, statement.sql, params.values()); });
}

void Session::prepare(const Statement& statement) {
  impl_->noting([&] {
    translating([&] { impl_->connection.prepare(statement.name, statement.sql); });
    return true;
  });
}

void Session::copy(const std::string& table, const std::string& columns, const CopyRows& rows) {
  impl_->nuls_removed += rows.nuls_removed();
  impl_->noting([&] {
    copy_rows(impl_->connection.handle(),
              "COPY " + table + " (" + columns + ") FROM STDIN (FORMAT binary)", rows.encoded());
    return true;
  });
}

void Session::copy_in(const std::string& target, const std::function<void(const PutCopy&)>& give) {
  impl_->noting([&] {
    send_rows(impl_->connection.handle(), "COPY " + target + " FROM STDIN", give);
    return true;
  });
}

std::uint64_t Session::copy_out(const std::string& query, const std::string& options,
                                const std::function<void(std::string_view)>& take) {
  return impl_->noting([&] {
    return receive_rows(impl_->connection.handle(),
                        "COPY (" + query + ") TO STDOUT (" + options + ")", take);
  });
}

void Session::limit_lock_waits(std::chrono::milliseconds patience) {
  run("SET lock_timeout = " + std::to_string(patience.count()));
}

const SipKey& Session::lock_secret() {
  if (!impl_->lock_secret) {
    const auto [first, second] = query_one<LockSecret>(sql::session_lock_secret);
    impl_->lock_secret =
        SipKey{static_cast<std::uint64_t>(first), static_cast<std::uint64_t>(second)};
  }
  return *impl_->lock_secret;
}

std::uint64_t Session::nuls_removed() const {
  return impl_->nuls_removed;
}

}  // namespace skua::postgres
