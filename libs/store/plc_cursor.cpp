#include "store/plc_cursor.hpp"

namespace skua::store {
namespace {

const Statement kLoad{"plc_cursor_load",
                      "SELECT c.since, c.newest, c.current_at, u.cid FROM skua.plc_cursor AS c "
                      "LEFT JOIN LATERAL unnest(c.cids) AS u(cid) ON true"};
const Statement kBegin{"plc_cursor_begin",
                       "INSERT INTO skua.plc_cursor (since, newest, cids, current_at) VALUES "
                       "($1::timestamptz, $2::timestamptz, $3::text[], $4::timestamptz) "
                       "ON CONFLICT DO NOTHING"};
const Statement kAdvance{
    "plc_cursor_advance",
    "UPDATE skua.plc_cursor SET since = $1::timestamptz, newest = $2::timestamptz, "
    "cids = $3::text[], current_at = $4::timestamptz "
    "WHERE newest = $5::timestamptz AND since IS NOT DISTINCT FROM $6::timestamptz"};

// The two intervals overlap, the import comes first, or it begins behind the cursor.
const Statement kAdd{
    "plc_cursor_add",
    "INSERT INTO skua.plc_cursor AS c (since, newest, current_at) "
    "VALUES ($1::timestamptz, $2::timestamptz, $2::timestamptz) ON CONFLICT (is_only) DO UPDATE "
    "SET since = CASE WHEN EXCLUDED.newest < c.since THEN EXCLUDED.since "
    "WHEN EXCLUDED.since IS NULL OR c.since IS NULL THEN NULL "
    "ELSE least(c.since, EXCLUDED.since) END, "
    "newest = EXCLUDED.newest, current_at = EXCLUDED.newest, cids = '{}' "
    "WHERE coalesce(EXCLUDED.since, '-infinity') <= c.newest "
    "AND (EXCLUDED.newest < c.since OR EXCLUDED.newest > c.newest)"};
const Statement kWiden{"plc_cursor_widen",
                       "UPDATE skua.plc_cursor SET since = $1::timestamptz "
                       "WHERE coalesce($1::timestamptz, '-infinity') < since "
                       "AND $2::timestamptz BETWEEN since AND newest"};

void add_time(Params& params, std::optional<Timestamp> time) {
  if (time) {
    params.timestamp(*time);
  } else {
    params.null();
  }
}

Params params_of(const PlcCursor& cursor) {
  Array cids(Array::Type::text);
  for (const std::string& cid : cursor.cids) cids.text(cid);
  Params params;
  add_time(params, cursor.since);
  params.timestamp(cursor.newest).array(cids).timestamp(cursor.current_at);
  return params;
}

}  // namespace

std::optional<PlcCursor> load_plc_cursor(Session& session) {
  const Rows rows = session.execute(kLoad, Params());
  if (rows.empty()) return std::nullopt;
  PlcCursor cursor{.newest = rows.timestamp(0, 1), .current_at = rows.timestamp(0, 2)};
  if (!rows.is_null(0, 0)) cursor.since = rows.timestamp(0, 0);
  for (std::size_t row = 0; row < rows.size(); ++row) {
    if (!rows.is_null(row, 3)) cursor.cids.emplace_back(rows.text(row, 3));
  }
  return cursor;
}

bool begin_plc_cursor(Session& session, const PlcCursor& cursor) {
  return session.execute(kBegin, params_of(cursor)).affected() == 1;
}

bool advance_plc_cursor(Session& session, const PlcCursor& from, const PlcCursor& to) {
  Params params = params_of(to);
  params.timestamp(from.newest);
  add_time(params, from.since);
  return session.execute(kAdvance, params).affected() == 1;
}

void add_to_plc_cursor(Session& session, std::optional<Timestamp> since, Timestamp newest) {
  Params params;
  add_time(params, since);
  params.timestamp(newest);
  session.execute(kWiden, params);
  session.execute(kAdd, params);
}

}  // namespace skua::store
