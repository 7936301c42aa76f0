#pragma once

#include <string>
#include <string_view>

#include <pqxx/pqxx>

struct pg_conn;

namespace skua::store {

/// libpqxx has no binary COPY and hides the handle that libpq needs for it: this class records the
/// handle. (libpqxx 6; version 7 has no policies, and offers `raw_connection` instead.)
class NotedConnect : public pqxx::connect_direct {
 public:
  using pqxx::connect_direct::connect_direct;
  handle do_startconnect(handle given) override {
    newest = pqxx::connect_direct::do_startconnect(given);
    return newest;
  }
  /// The connection that this thread made last.
  static inline thread_local handle newest = nullptr;
};
using Connection = pqxx::basic_connection_base<NotedConnect>;

/// A message of the server as one line: the server breaks and indents its messages.
std::string one_line(std::string_view text);

/// Runs a `COPY ... FROM STDIN (FORMAT binary)` with these rows, without header and trailer, and
/// waits until the server has processed all of them. Throws SqlError.
void copy_rows(pg_conn* handle, const std::string& sql, const std::string& rows);

}  // namespace skua::store
