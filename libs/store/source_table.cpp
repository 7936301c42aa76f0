#include "store/source_table.hpp"

#include <chrono>

#include "store/cursor_store.hpp"
#include "store/source_lock.hpp"

namespace skua::store {
namespace {

std::string microseconds_of(const std::string& column) {
  return "(extract(epoch FROM " + column + ") * 1000000)::int8";
}

// The name of a backfill's metrics has no host, and therefore no colon.
const Statement kReadSources{
    "sources_read", "SELECT coalesce(c.source, f.source), c.cursor, " +
                        microseconds_of("c.saved_at") + ", " + microseconds_of("c.event_time") +
                        ", extract(epoch FROM now() - c.event_time)::float8, f.metrics::text, "
                        "extract(epoch FROM now() - f.at)::float8 "
                        "FROM skua.cursors AS c FULL JOIN (SELECT * FROM skua.metrics "
                        "WHERE source LIKE '%:%') AS f USING (source) ORDER BY 1"};

const Statement kForgetCursor{"sources_forget_cursor",
                              "DELETE FROM skua.cursors WHERE source = $1"};
const Statement kForgetMetrics{"sources_forget_metrics",
                               "DELETE FROM skua.metrics WHERE source = $1"};
const Statement kTombstones{"sources_tombstones",
                            "SELECT count(*) FROM skua.tombstones WHERE source = $1"};

std::optional<Timestamp> instant_or_null(const Rows& rows, std::size_t row, std::size_t column) {
  if (rows.is_null(row, column)) return std::nullopt;
  return Timestamp(std::chrono::microseconds(rows.int8(row, column)));
}

std::optional<double> seconds_or_null(const Rows& rows, std::size_t row, std::size_t column) {
  if (rows.is_null(row, column)) return std::nullopt;
  return rows.real(row, column);
}

}  // namespace

std::vector<StoredSource> read_sources(Session& session) {
  const Rows rows = session.execute(kReadSources, {});
  std::vector<StoredSource> sources;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    StoredSource& source = sources.emplace_back();
    source.name = rows.text(row, 0);
    if (!rows.is_null(row, 1)) source.cursor = rows.int8(row, 1);
    source.saved_at = instant_or_null(rows, row, 2);
    source.event_time = instant_or_null(rows, row, 3);
    source.cursor_age_seconds = seconds_or_null(rows, row, 4);
    if (!rows.is_null(row, 5)) source.metrics = rows.text(row, 5);
    source.metrics_age_seconds = seconds_or_null(rows, row, 6);
  }
  return sources;
}

ForgottenSource forget_source(Session& session, std::string_view source) {
  const SourceLock lock(session, source);
  ForgottenSource forgotten;
  Params name;
  name.text(source);
  Transaction transaction(session);
  forgotten.cursor = load_cursor(session, source);
  const auto before = static_cast<std::size_t>(session.execute(kTombstones, name).int8(0, 0));
  purge_all_tombstones(session, source);
  forgotten.tombstones_kept =
      static_cast<std::size_t>(session.execute(kTombstones, name).int8(0, 0));
  forgotten.tombstones = before - forgotten.tombstones_kept;
  const std::size_t rows = session.execute(kForgetCursor, name).affected() +
                           session.execute(kForgetMetrics, name).affected();
  forgotten.is_known = rows > 0 || before > 0;
  transaction.commit();
  return forgotten;
}

}  // namespace skua::store
