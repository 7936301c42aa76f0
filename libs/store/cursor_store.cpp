#include "store/cursor_store.hpp"

#include <limits>

#include "store/cursor_store.sql.hpp"

namespace skua::store {

std::optional<std::int64_t> load_cursor(Session& session, std::string_view source) {
  return session.query_first<std::int64_t>(sql::cursor_load, source);
}

void save_cursor(Session& session, std::string_view source, std::int64_t cursor,
                 Timestamp event_time) {
  const auto time = event_time == Timestamp{} ? std::nullopt : std::optional(event_time);
  session.execute(sql::cursor_save, source, cursor, time);
  session.execute(sql::cursor_purge_tombstones, source, cursor);
}

void purge_all_tombstones(Session& session, std::string_view source) {
  session.execute(sql::cursor_purge_tombstones, source, std::numeric_limits<std::int64_t>::max());
}

void save_metrics(Session& session, std::string_view source, std::string_view json) {
  session.execute(sql::metrics_save, source, json);
}

}  // namespace skua::store
