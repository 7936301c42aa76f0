#include "postgres/sql_error.hpp"

#include <string_view>

#include "base/text.hpp"

namespace skua::postgres {

std::string error_text(std::string_view message) {
  return printable(message, 500);
}

void throw_sql_error(const std::string& message, const std::string& sqlstate) {
  const std::string_view sqlstate_class = std::string_view(sqlstate).substr(0, 2);
  // A sequence without numbers is not an error of the data, although its class is that of data.
  if (sqlstate == kSequenceExhausted) throw DefectError(message, sqlstate);
  if (sqlstate_class == "22" || sqlstate_class == "23" || sqlstate_class == "54") {
    throw DataError(message, sqlstate);
  }
  if (sqlstate_class == "42" || sqlstate_class == "21") throw DefectError(message, sqlstate);
  throw ServerError(message, sqlstate);
}

bool SqlError::is_unreachable() const {
  // libpqxx gives no SQLSTATE if an attempt to connect failed.
  if (sqlstate_.empty()) {
    const std::string_view message = what();
    return message.find("too many") == message.npos &&
           message.find("connection slots") == message.npos;
  }
  return sqlstate_.starts_with("08") || sqlstate_.starts_with("57P");
}

}  // namespace skua::postgres
