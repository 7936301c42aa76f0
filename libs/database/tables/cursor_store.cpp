#include "tables/cursor_store.hpp"

#include <cstddef>
#include <limits>

#include "tables/cursor_store.sql.hpp"

namespace skua::tables {

namespace {

/// A row of plc_cursor_load, which returns one row for each CID of the newest time, or one row
/// without a CID.
struct CursorRow {
  std::optional<Timestamp> since;
  Timestamp newest;
  Timestamp current_at;
  std::optional<std::string> cid;
};

/// A row of cursor_of_groups.
struct GroupCursorRow {
  std::int32_t group;
  std::int64_t cursor;
};

}  // namespace

std::optional<std::int64_t> load_cursor(postgres::Session& session, std::string_view source) {
  return session.query_first<std::int64_t>(sql::cursor_load, source);
}

std::optional<GroupCursors> load_group_cursors(postgres::Session& session,
                                               std::string_view source) {
  std::optional<GroupCursors> cursors;
  for (const auto& row : session.query<GroupCursorRow>(sql::cursor_of_groups, source)) {
    if (!cursors) cursors.emplace();
    cursors->at(static_cast<std::size_t>(row.group)) = row.cursor;
  }
  return cursors;
}

void save_cursor(postgres::Session& session, std::string_view source, std::int64_t cursor,
                 Timestamp event_time) {
  const auto time = event_time == Timestamp{} ? std::nullopt : std::optional(event_time);
  session.execute(sql::cursor_save, source, cursor, time);
  session.execute(sql::cursor_purge_tombstones, source, cursor);
}

void purge_all_tombstones(postgres::Session& session, std::string_view source) {
  session.execute(sql::cursor_purge_tombstones, source, std::numeric_limits<std::int64_t>::max());
}

void save_metrics(postgres::Session& session, std::string_view source, std::string_view json) {
  session.execute(sql::metrics_save, source, json);
}

std::optional<PlcCursor> load_plc_cursor(postgres::Session& session) {
  std::optional<PlcCursor> cursor;
  for (CursorRow& row : session.query<CursorRow>(sql::plc_cursor_load)) {
    if (!cursor) {
      cursor = PlcCursor{.since = row.since, .newest = row.newest, .current_at = row.current_at};
    }
    if (row.cid) cursor->cids.push_back(std::move(*row.cid));
  }
  return cursor;
}

bool begin_plc_cursor(postgres::Session& session, const PlcCursor& cursor) {
  return session
             .execute(sql::plc_cursor_begin, cursor.since, cursor.newest, cursor.cids,
                      cursor.current_at)
             .affected() == 1;
}

bool advance_plc_cursor(postgres::Session& session, const PlcCursor& from, const PlcCursor& to) {
  return session
             .execute(sql::plc_cursor_advance, to.since, to.newest, to.cids, to.current_at,
                      from.newest, from.since)
             .affected() == 1;
}

void add_to_plc_cursor(postgres::Session& session, std::optional<Timestamp> since,
                       Timestamp newest) {
  session.execute(sql::plc_cursor_widen, since, newest);
  session.execute(sql::plc_cursor_add, since, newest);
}

}  // namespace skua::tables
