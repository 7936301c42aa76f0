#include "status/json_columns.hpp"

namespace skua::status {

nlohmann::json or_null(const std::optional<Timestamp>& time) {
  return time ? nlohmann::json(format_datetime(*time)) : nlohmann::json(nullptr);
}

}  // namespace skua::status
