#include "store/cursor_store.hpp"

#include <limits>

namespace skua::store {
namespace {

const Statement kLoadCursor{"cursor_load", "SELECT cursor FROM skua.cursors WHERE source = $1"};
const Statement kSaveCursor{"cursor_save",
                            "INSERT INTO skua.cursors (source, cursor, event_time, saved_at) "
                            "VALUES ($1, $2::int8, $3::timestamptz, now()) "
                            "ON CONFLICT (source) DO UPDATE SET cursor = EXCLUDED.cursor, "
                            "event_time = EXCLUDED.event_time, saved_at = EXCLUDED.saved_at"};
// While a backfill of a repository runs, its CAR may still contain records that were deleted since.
// Such accounts are few, so they are looked up once and not for each tombstone. A job that was not
// updated for an hour writes no more rows (its lease has expired, and it can no longer finish; the
// hour allows for different clocks), so no tombstone stays forever.
const Statement kPurge{"cursor_purge_tombstones",
                       "DELETE FROM skua.tombstones WHERE source = $1 AND seq <= $2::int8 "
                       "AND actor_id <> ALL (ARRAY(SELECT a.id FROM skua.backfill_jobs AS j "
                       "JOIN bsky.actors AS a ON a.did = j.did "
                       "WHERE j.state = 'running' AND j.lease_until > now() - interval '1 hour'))"};
const Statement kSaveMetrics{
    "metrics_save",
    "INSERT INTO skua.metrics (source, at, metrics) VALUES ($1, now(), $2::text::jsonb) "
    "ON CONFLICT (source) DO UPDATE SET at = EXCLUDED.at, metrics = EXCLUDED.metrics"};

void purge_tombstones(Session& session, std::string_view source, std::int64_t cursor) {
  Params purge;
  purge.text(source).int8(cursor);
  session.execute(kPurge, purge);
}

}  // namespace

std::optional<std::int64_t> load_cursor(Session& session, std::string_view source) {
  Params params;
  params.text(source);
  const Rows rows = session.execute(kLoadCursor, params);
  if (rows.empty()) return std::nullopt;
  return rows.int8(0, 0);
}

void save_cursor(Session& session, std::string_view source, std::int64_t cursor,
                 Timestamp event_time) {
  Params save;
  save.text(source).int8(cursor);
  if (event_time == Timestamp{}) {
    save.null();
  } else {
    save.timestamp(event_time);
  }
  session.execute(kSaveCursor, save);
  purge_tombstones(session, source, cursor);
}

void purge_all_tombstones(Session& session, std::string_view source) {
  purge_tombstones(session, source, std::numeric_limits<std::int64_t>::max());
}

void save_metrics(Session& session, std::string_view source, std::string_view json) {
  Params params;
  params.text(source).text(json);
  session.execute(kSaveMetrics, params);
}

}  // namespace skua::store
