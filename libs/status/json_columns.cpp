#include "status/json_columns.hpp"

#include <string>

namespace skua::status {

using nlohmann::json;
using store::Rows;

json text_or_null(const Rows& rows, std::size_t row, std::size_t column) {
  if (rows.is_null(row, column)) return nullptr;
  return std::string(rows.text(row, column));
}

json boolean_or_null(const Rows& rows, std::size_t row, std::size_t column) {
  if (rows.is_null(row, column)) return nullptr;
  return rows.boolean(row, column);
}

json time_or_null(const std::optional<Timestamp>& time) {
  return time ? json(format_datetime(*time)) : json(nullptr);
}

json time_or_null(const Rows& rows, std::size_t row, std::size_t column) {
  if (rows.is_null(row, column)) return nullptr;
  return format_datetime(rows.timestamp(row, column));
}

}  // namespace skua::status
