#include "postgres/impl/connection.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <unordered_set>

#include <fmt/format.h>
#include <libpq-fe.h>

#include "base/log.hpp"
#include "postgres/sql_error.hpp"

// libpqxx 7.10 has one function for all statements. Versions 6 and 7.8 (Ubuntu 24.04) have others,
// which 7.10 deprecates.
#if PQXX_VERSION_MAJOR > 7 || (PQXX_VERSION_MAJOR == 7 && PQXX_VERSION_MINOR >= 10)
#define SKUA_PQXX_HAS_PREPPED
#endif

namespace skua::postgres {

namespace {

/// Logs a warning of the server.
void log_notice(std::string_view message) noexcept {
  try {
    const std::string text = one_line(message);
    // A server that stops tells each session, but the outage monitor logs this once.
    if (text.find("terminating connection") != std::string::npos) {
      logger("store")->debug("{}", text);
    } else {
      logger("store")->warn("{}", text);
    }
  } catch (...) {
    // A failure of the log must not break the connection.
  }
}

/// The function is the same for all versions of libpqxx, which have different handlers of their
/// own.
void log_notices(PGconn* handle) {
  PQsetNoticeProcessor(
      handle, [](void*, const char* message) { log_notice(message); }, nullptr);
}

/// Whether the binary form of a type is its text.
bool is_text(TypeOid type) {
  return type == oid::kText || type == oid::kVarchar || type == oid::kName || type == oid::kJson;
}

/// Checks the types of the values. The server reads a value as the type that it determined from the
/// statement, so a value of another type would become another value, or cause an error that names
/// no statement.
void check_types(PGconn* handle, const std::string& name,
                 const std::vector<Params::Value>& values) {
  const std::unique_ptr<PGresult, decltype(&PQclear)> described(
      PQdescribePrepared(handle, name.c_str()), &PQclear);
  if (described == nullptr || PQresultStatus(described.get()) != PGRES_COMMAND_OK) {
    throw_sql_error(one_line(PQerrorMessage(handle)), "");
  }
  const auto count = static_cast<std::size_t>(PQnparams(described.get()));
  if (count != values.size()) {
    throw DefectError(fmt::format("statement {} has {} parameters, the program passes {}", name,
                                  count, values.size()),
                      "");
  }
  for (std::size_t i = 0; i < count; ++i) {
    const TypeOid passed = values[i].type;
    const TypeOid declared = PQparamtype(described.get(), static_cast<int>(i));
    if (passed == oid::kUnknown || passed == declared) continue;
    if (passed == oid::kText && is_text(declared)) continue;
    throw DefectError(fmt::format("statement {}: ${} is {}, the program passes {}", name, i + 1,
                                  type_name(declared), type_name(passed)),
                      "");
  }
}

/// The statements whose parameters the process has checked. Each connection prepares all of its
/// statements, but the types of a statement are the same in all connections.
class CheckedStatements {
 public:
  bool contains(const std::string& name) const {
    const std::scoped_lock lock(mutex_);
    return names_.contains(name);
  }
  void add(const std::string& name) {
    const std::scoped_lock lock(mutex_);
    names_.insert(name);
  }

 private:
  mutable std::mutex mutex_;
  std::unordered_set<std::string> names_;
};

CheckedStatements& checked_statements() {
  static CheckedStatements statements;
  return statements;
}

#if PQXX_VERSION_MAJOR >= 7

/// Opens the connection with libpq, because libpqxx 7 does not show the handle of a connection that
/// it opened.
PGconn* open_handle(const std::string& url) {
  PGconn* const handle = PQconnectdb(url.c_str());
  if (handle == nullptr) throw std::bad_alloc();
  if (PQstatus(handle) != CONNECTION_OK) {
    const std::string message = PQerrorMessage(handle);
    PQfinish(handle);
    throw_sql_error(one_line(message), "");
  }
  return handle;
}

#else

/// Records the handle of the last connection of this thread, because libpqxx 6 hides the handle.
class NotedConnect : public pqxx::connect_direct {
 public:
  using pqxx::connect_direct::connect_direct;
  handle do_startconnect(handle given) override {
    newest = pqxx::connect_direct::do_startconnect(given);
    return newest;
  }
  static inline thread_local handle newest = nullptr;
};
using Library6 = pqxx::basic_connection_base<NotedConnect>;

#endif

struct ResultDeleter {
  void operator()(PGresult* result) const { PQclear(result); }
};
using LibpqResult = std::unique_ptr<PGresult, ResultDeleter>;

void check(PGconn* handle, const PGresult* result, ExecStatusType expected) {
  if (result != nullptr && PQresultStatus(result) == expected) return;
  const char* state = result == nullptr ? nullptr : PQresultErrorField(result, PG_DIAG_SQLSTATE);
  const char* message = result == nullptr ? PQerrorMessage(handle) : PQresultErrorMessage(result);
  throw_sql_error(one_line(message), state == nullptr ? "" : state);
}

}  // namespace

#if PQXX_VERSION_MAJOR >= 7

class Connection::Library {
 public:
  explicit Library(const std::string& url)
      : handle(open_handle(url)),
        connection(pqxx::connection::seize_raw_connection(handle)),
        direct(connection) {
    log_notices(handle);
  }

  void prepare(const std::string& name, const std::string& sql) { connection.prepare(name, sql); }

  pqxx::result execute(const std::string& name, const std::vector<Params::Value>& values) {
    pqxx::params parameters;
    parameters.reserve(values.size());
    for (const Params::Value& value : values) {
      if (value.is_null) {
        parameters.append();
      } else {
        parameters.append(pqxx::binary_cast(value.binary));
      }
    }
#ifdef SKUA_PQXX_HAS_PREPPED
    return direct.exec(pqxx::prepped{name}, parameters);
#else
    return direct.exec_prepared(name, parameters);
#endif
  }

  PGconn* handle;
  pqxx::connection connection;
  // Our code manages transactions, not libpqxx, so one object serves all statements.
  pqxx::nontransaction direct;
};

#else

class Connection::Library {
 public:
  explicit Library(const std::string& url)
      : connection(url), handle(NotedConnect::newest), direct(connection) {
    log_notices(handle);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    connection.inhibit_reactivation(true);
#pragma GCC diagnostic pop
  }

  void prepare(const std::string& name, const std::string& sql) {
    connection.prepare(name, sql);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    connection.prepare_now(name);
#pragma GCC diagnostic pop
  }

  pqxx::result execute(const std::string& name, const std::vector<Params::Value>& values) {
    // The newer function, exec_prepared, cannot pass a number of binary values and nulls that is
    // known only at run time.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    pqxx::prepare::invocation invocation = direct.prepared(name);
#pragma GCC diagnostic pop
    for (const Params::Value& value : values) {
      if (value.is_null) {
        invocation();
      } else {
        invocation(pqxx::binarystring(value.binary.data(), value.binary.size()));
      }
    }
    return invocation.exec();
  }

  Library6 connection;
  PGconn* handle;
  // Our code manages transactions, not libpqxx, so one object serves all statements.
  pqxx::nontransaction direct;
};

#endif

Connection::Connection(const std::string& url)
    : library_(std::make_unique<Library>(url)), handle_(library_->handle) {}

Connection::~Connection() = default;

bool Connection::is_open() const {
  return library_->connection.is_open();
}

int Connection::backend_pid() const {
  return library_->connection.backendpid();
}

pqxx::result Connection::run(const std::string& sql) {
  return library_->direct.exec(sql);
}

pqxx::result Connection::run_single(const std::string& sql) {
#ifdef SKUA_PQXX_HAS_PREPPED
  return library_->direct.exec(sql, pqxx::params{});
#else
  return library_->direct.exec_params(sql);
#endif
}

void Connection::prepare(const std::string& name, const std::string& sql) {
  library_->prepare(name, sql);
}

pqxx::result Connection::execute(const std::string& name, const std::string& sql,
                                 const std::vector<Params::Value>& values) {
  if (!prepared_.contains(name)) {
    // Preparing a statement fails in a failed transaction.
    prepare(name, sql);
    if (!checked_statements().contains(name)) {
      check_types(handle_, name, values);
      checked_statements().add(name);
    }
    prepared_.insert(name);
  }
  return library_->execute(name, values);
}

std::string one_line(std::string_view text) {
  std::string line;
  for (const char c : text) {
    const bool is_space = c == ' ' || c == '\n' || c == '\t';
    if (!is_space) {
      line += c;
    } else if (!line.empty() && line.back() != ' ') {
      line += ' ';
    }
  }
  while (!line.empty() && line.back() == ' ') line.pop_back();
  return line;
}

namespace {

/// Reads the result of a COPY whose rows were sent.
void end_copy_in(PGconn* handle, bool sent) {
  // If the server reported an error, its text explains more than the failed write.
  const LibpqResult outcome(PQgetResult(handle));
  while (LibpqResult(PQgetResult(handle)) != nullptr) {
  }
  check(handle, outcome.get(), PGRES_COMMAND_OK);
  if (!sent) throw_sql_error(one_line(PQerrorMessage(handle)), "");
}

}  // namespace

void copy_rows(PGconn* handle, const std::string& sql, const std::string& rows) {
  check(handle, LibpqResult(PQexec(handle, sql.c_str())).get(), PGRES_COPY_IN);
  // The header has the signature, no flags and no extension. The trailer has -1 instead of a number
  // of fields.
  constexpr std::string_view kHead("PGCOPY\n\377\r\n\0\0\0\0\0\0\0\0\0", 19);
  constexpr std::string_view kEnd("\377\377", 2);
  constexpr std::size_t kPiece = std::size_t{1} << 20;
  const auto send = [handle](std::string_view bytes) {
    return PQputCopyData(handle, bytes.data(), static_cast<int>(bytes.size())) == 1;
  };
  bool sent = send(kHead);
  for (std::size_t at = 0; sent && at < rows.size(); at += kPiece) {
    sent = send(std::string_view(rows).substr(at, kPiece));
  }
  sent = sent && send(kEnd) && PQputCopyEnd(handle, nullptr) == 1;
  end_copy_in(handle, sent);
}

void send_rows(pg_conn* handle, const std::string& sql,
               const std::function<void(const std::function<void(std::string_view)>&)>& give) {
  check(handle, LibpqResult(PQexec(handle, sql.c_str())).get(), PGRES_COPY_IN);
  bool sent = true;
  try {
    give([&](std::string_view bytes) {
      sent = sent && PQputCopyData(handle, bytes.data(), static_cast<int>(bytes.size())) == 1;
    });
  } catch (...) {
    PQputCopyEnd(handle, "the rows do not come");
    while (LibpqResult(PQgetResult(handle)) != nullptr) {
    }
    throw;
  }
  end_copy_in(handle, sent && PQputCopyEnd(handle, nullptr) == 1);
}

namespace {

struct CopiedRowDeleter {
  void operator()(char* row) const { PQfreemem(row); }
};

/// Ends a COPY that the caller does not read to its end.
void abandon_copy(PGconn* handle) {
  if (PGcancel* const cancel = PQgetCancel(handle)) {
    std::array<char, 256> error{};
    // If the request does not reach the server, the rows that follow are read and discarded.
    PQcancel(cancel, error.data(), static_cast<int>(error.size()));
    PQfreeCancel(cancel);
  }
  char* row = nullptr;
  while (PQgetCopyData(handle, &row, 0) > 0) PQfreemem(row);
  while (LibpqResult(PQgetResult(handle)) != nullptr) {
  }
}

}  // namespace

std::uint64_t receive_rows(PGconn* handle, const std::string& sql,
                           const std::function<void(std::string_view)>& take) {
  check(handle, LibpqResult(PQexec(handle, sql.c_str())).get(), PGRES_COPY_OUT);
  std::uint64_t count = 0;
  char* received = nullptr;
  int size = 0;
  while ((size = PQgetCopyData(handle, &received, 0)) > 0) {
    const std::unique_ptr<char, CopiedRowDeleter> row(received);
    try {
      take(std::string_view(row.get(), static_cast<std::size_t>(size)));
    } catch (...) {
      abandon_copy(handle);
      throw;
    }
    ++count;
  }
  // -1 is the end, whose result says whether the statement succeeded; -2 is an error of the
  // connection.
  const LibpqResult outcome(PQgetResult(handle));
  while (LibpqResult(PQgetResult(handle)) != nullptr) {
  }
  check(handle, outcome.get(), PGRES_COMMAND_OK);
  return count;
}

}  // namespace skua::postgres

#undef SKUA_PQXX_HAS_PREPPED
