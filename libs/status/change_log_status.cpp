#include "status/change_log_status.hpp"

#include <cstddef>

#include <nlohmann/json.hpp>

#include "base/time.hpp"
#include "feed/log_maintenance.hpp"

namespace skua::status {

nlohmann::json read_change_log_status(store::Session& session) {
  using nlohmann::json;
  // skua.change_log_end() reads a partition directly, which skua_reader may not.
  const store::Rows rows = session.run(
      "SELECT s.timeline, extract(epoch FROM s.retention)::int8, o.pos, o.at, n.pos + n.n, n.at "
      "FROM skua.change_log_state AS s LEFT JOIN LATERAL (SELECT l.pos, l.at FROM skua.change_log "
      "AS l ORDER BY l.pos LIMIT 1) AS o ON true LEFT JOIN LATERAL (SELECT l.pos, l.n, l.at FROM "
      "skua.change_log AS l ORDER BY l.pos DESC LIMIT 1) AS n ON true");
  const auto time = [&](std::size_t column) {
    return rows.is_null(0, column) ? json() : json(format_datetime(rows.timestamp(0, column)));
  };
  const feed::LogSize size = feed::read_log_size(session);
  return {{"timeline", rows.int4(0, 0)},
          {"retention_seconds", rows.int8(0, 1)},
          {"oldest", rows.is_null(0, 2) ? 1 : rows.int8(0, 2)},
          {"oldest_at", time(3)},
          {"next", rows.is_null(0, 4) ? 1 : rows.int8(0, 4)},
          {"newest_at", time(5)},
          {"bytes", size.bytes},
          {"max_bytes", size.max_bytes}};
}

}  // namespace skua::status
