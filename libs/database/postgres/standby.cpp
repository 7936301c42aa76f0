#include "postgres/standby.hpp"

#include <cstdint>

#include "postgres/standby.sql.hpp"

namespace skua::postgres {

std::optional<std::chrono::milliseconds> standby_lag(Session& session) {
  const auto lag = session.query_one<std::optional<std::int64_t>>(sql::standby_lag);
  if (!lag) return std::nullopt;
  return std::chrono::milliseconds(*lag);
}

}  // namespace skua::postgres
