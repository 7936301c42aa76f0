#include "backfill/repository/resync_rows.hpp"

#include <utility>

#include <fmt/format.h>

#include "backfill/repository/resync_rows.sql.hpp"
#include "base/account_number.hpp"
#include "records/record.hpp"
#include "store/advisory_lock.hpp"
#include "store/server_clock.hpp"
#include "store/sqlstate.hpp"
#include "writer/account_locks.hpp"

namespace skua::backfill {
namespace {

using store::Array;
using store::Params;
using store::Rows;
using store::Session;
using store::Statement;

/// Rows of a step: some tens of milliseconds, for which the account's live events wait.
constexpr int kRows = 5'000;

/// A table whose rows are records.
struct RecordTable {
  std::string name;
  /// An SQL expression for the collection of a row.
  std::string collection;
};

std::vector<RecordTable> record_tables(Session& session) {
  const Rows rows = session.execute(sql::resync_tables, {});
  std::vector<RecordTable> tables;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    tables.push_back({std::string(rows.text(i, 0)), rows.boolean(i, 1) ? "t.collection_id" : "0"});
  }
  return tables;
}

/// $1: accounts, by number. Names what identifies a record across all tables.
Statement rows_statement(const std::vector<RecordTable>& tables) {
  std::string sql;
  for (const RecordTable& table : tables) {
    if (!sql.empty()) sql += " UNION ALL ";
    sql += fmt::format(
        "SELECT t.actor_id, t.tableoid AS place, {}::int4 AS collection_id, t.rkey, t.cid FROM {} "
        "AS t WHERE t.actor_id = ANY ($1::int8[]) AND t.cid IS NOT NULL",
        table.collection, table.name);
  }
  return {"resync_rows", std::move(sql)};
}

Params actors_of(Session& session, std::span<const std::string> dids) {
  Array names(Array::Type::text);
  for (const std::string& did : dids) names.text(did);
  Params asked;
  asked.array(names);
  const Rows rows = session.execute(sql::resync_actors, asked);
  Array ids(Array::Type::int8);
  for (std::size_t i = 0; i < rows.size(); ++i) ids.int8(rows.int8(i, 0));
  Params params;
  params.array(ids);
  return params;
}

std::int64_t newest_row(Session& session, const std::vector<RecordTable>& tables,
                        AccountNumber actor_id) {
  std::string newest;
  for (const RecordTable& table : tables) {
    if (!newest.empty()) newest += ", ";
    newest +=
        fmt::format("(SELECT max(t.rev) FROM {} AS t WHERE t.actor_id = $1::int8)", table.name);
  }
  Params params;
  params.int8(actor_id);
  return session
      .execute({"resync_newest_row", fmt::format("SELECT coalesce(greatest({}), 0)", newest)},
               params)
      .int8(0, 0);
}

/// Changes some rows of an account; returns how many.
std::size_t lower_some(Session& session, const Statement& statement, const Params& params,
                       const std::string& did) {
  for (;;) {
    try {
      store::Transaction transaction(session);
      store::lock_xact(session, writer::locks_of_account(session, did));
      const std::size_t rows = session.execute(statement, params).affected();
      transaction.commit();
      return rows;
    } catch (const store::ServerError& error) {
      // Another session writes to the account for longer than the lock timeout: try again.
      if (error.sqlstate() != store::kLockNotAvailable || !session.connected()) throw;
    }
  }
}

}  // namespace

std::size_t lower_newest_revs(Session& session, const std::string& did) {
  Params who;
  who.text(did);
  const Rows actor = session.execute(sql::resync_actor, who);
  if (actor.empty()) return 0;
  const std::vector<RecordTable> tables = record_tables(session);
  Array revs(Array::Type::int8);
  revs.int8(newest_row(session, tables, actor.int8(0, 0)));
  // If rows have a newer revision than the account, rows of the account's own revision are lowered
  // too.
  for (const std::size_t column : {1U, 2U}) {
    if (!actor.is_null(0, column)) revs.int8(actor.int8(0, column));
  }
  Params params;
  params.int8(actor.int8(0, 0)).array(revs);
  std::size_t changed = 0;
  for (const RecordTable& table : tables) {
    const std::string newest = "actor_id = $1::int8 AND rev = ANY ($2::int8[]) AND rev > 0";
    const Statement statement{"resync_lower_" + table.name,
                              fmt::format("UPDATE {0} SET rev = rev - 1 WHERE {1} AND ctid = ANY "
                                          "(ARRAY(SELECT ctid FROM {0} WHERE {1} LIMIT {2}))",
                                          table.name, newest, kRows)};
    for (;;) {
      const std::size_t rows = lower_some(session, statement, params, did);
      changed += rows;
      if (rows < std::size_t{kRows}) break;
    }
  }
  return changed;
}

void remember_rows(Session& session, std::span<const std::string> dids) {
  const Params actors = actors_of(session, dids);
  session.run(
      "CREATE TEMP TABLE IF NOT EXISTS rows_before (actor_id int8, place oid, collection_id int4, "
      "rkey int8, cid bytea); TRUNCATE rows_before");
  Statement rows = rows_statement(record_tables(session));
  session.execute({"resync_remember", "INSERT INTO rows_before " + rows.sql}, actors);
  session.run("ANALYZE rows_before");
}

void request_resync(Session& session, std::span<const NewJob> jobs) {
  for (const NewJob& job : jobs) lower_newest_revs(session, job.did);
  add_jobs(session, jobs, Again::Yes, store::server_time(session));
}

std::vector<RowsChanged> rows_changed(Session& session, std::span<const std::string> dids) {
  const Params actors = actors_of(session, dids);
  const Rows rows = session.execute(
      {"resync_changed",
       "WITH changed AS (SELECT coalesce(now.actor_id, b.actor_id) AS actor_id, "
       "count(now.cid) AS stored, count(*) FILTER (WHERE b.cid IS NULL) AS added, "
       "count(*) FILTER (WHERE now.cid IS NULL) AS removed, "
       "count(*) FILTER (WHERE now.cid <> b.cid) AS replaced FROM (" +
           rows_statement(record_tables(session)).sql +
           ") AS now FULL JOIN pg_temp.rows_before AS b "
           "USING (actor_id, place, collection_id, rkey) GROUP BY 1) "
           "SELECT a.did, c.stored, c.added, c.removed, c.replaced FROM changed AS c "
           "JOIN bsky.actors AS a ON a.id = c.actor_id ORDER BY a.did COLLATE \"C\""},
      actors);
  std::vector<RowsChanged> changed;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    changed.push_back({std::string(rows.text(i, 0)), rows.int8(i, 1), rows.int8(i, 2),
                       rows.int8(i, 3), rows.int8(i, 4)});
  }
  return changed;
}

}  // namespace skua::backfill
