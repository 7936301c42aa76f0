#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include <pqxx/pqxx>

#include "postgres/parameters.hpp"

struct pg_conn;

namespace skua::postgres {

/// A connection of libpqxx with its libpq handle, because libpqxx has no binary COPY. Hides the
/// differences between libpqxx 6 (Debian 12) and 7 (Debian 13). Never reconnects by itself, because
/// a new connection would silently lack the transaction and the locks of the previous one. One
/// thread. Throws the exceptions of libpqxx.
class Connection {
 public:
  explicit Connection(const std::string& url);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  bool is_open() const;
  int backend_pid() const;
  pg_conn* handle() const { return handle_; }

  pqxx::result run(const std::string& sql);
  /// Runs one statement by the extended protocol, which refuses several.
  pqxx::result run_single(const std::string& sql);
  void prepare(const std::string& name, const std::string& sql);
  /// Runs a statement. The first use of a statement prepares it.
  pqxx::result execute(const std::string& name, const std::string& sql,
                       const std::vector<Params::Value>& values);

 private:
  class Library;

  std::unique_ptr<Library> library_;
  pg_conn* handle_;
  std::unordered_set<std::string> prepared_;
};

/// Returns a message of the server as one line, because the server breaks and indents its messages.
std::string one_line(std::string_view text);

/// Runs a `COPY ... FROM STDIN (FORMAT binary)` with these rows, without header and trailer, and
/// waits until the server has processed all of them. Throws SqlError.
void copy_rows(pg_conn* handle, const std::string& sql, const std::string& rows);

/// Runs a `COPY ... FROM STDIN` with the bytes that `give` passes to its argument. If `give`
/// throws, abandons the COPY and throws the same exception. Throws SqlError.
void send_rows(pg_conn* handle, const std::string& sql,
               const std::function<void(const std::function<void(std::string_view)>&)>& give);

/// Runs a `COPY ... TO STDOUT` and passes each row to `take`. Returns the number of rows. If `take`
/// throws, cancels the statement, reads its end, and throws the same exception. Throws SqlError.
std::uint64_t receive_rows(pg_conn* handle, const std::string& sql,
                           const std::function<void(std::string_view)>& take);

}  // namespace skua::postgres
