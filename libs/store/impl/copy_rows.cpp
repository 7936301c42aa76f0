#include <cstddef>
#include <memory>

#include <libpq-fe.h>

#include "store/impl/connection.hpp"
#include "store/sql_error.hpp"

namespace skua::store {
namespace {

struct ResultDeleter {
  void operator()(PGresult* result) const { PQclear(result); }
};
using LibpqResult = std::unique_ptr<PGresult, ResultDeleter>;

/// Throws if a result of libpq is an error.
void check(PGconn* handle, const PGresult* result, ExecStatusType expected) {
  if (result != nullptr && PQresultStatus(result) == expected) return;
  const char* state = result == nullptr ? nullptr : PQresultErrorField(result, PG_DIAG_SQLSTATE);
  const char* message = result == nullptr ? PQerrorMessage(handle) : PQresultErrorMessage(result);
  throw_sql_error(one_line(message), state == nullptr ? "" : state);
}

}  // namespace

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

void copy_rows(PGconn* handle, const std::string& sql, const std::string& rows) {
  check(handle, LibpqResult(PQexec(handle, sql.c_str())).get(), PGRES_COPY_IN);
  // Signature, no flags, no extension; after the rows, -1 instead of a number of fields.
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
  // If the server reported an error, it explains more than the failed write.
  const LibpqResult outcome(PQgetResult(handle));
  while (LibpqResult(PQgetResult(handle)) != nullptr) {
  }
  check(handle, outcome.get(), PGRES_COMMAND_OK);
  if (!sent) throw_sql_error(one_line(PQerrorMessage(handle)), "");
}

}  // namespace skua::store
