#include <string_view>

#include "store/session.hpp"

namespace skua::store {

void throw_sql_error(const std::string& message, const std::string& sqlstate) {
  const std::string_view sqlstate_class = std::string_view(sqlstate).substr(0, 2);
  if (sqlstate_class == "22" || sqlstate_class == "23" || sqlstate_class == "54") {
    throw DataError(message, sqlstate);
  }
  if (sqlstate_class == "42" || sqlstate_class == "21") throw DefectError(message, sqlstate);
  throw ServerError(message, sqlstate);
}

}  // namespace skua::store
