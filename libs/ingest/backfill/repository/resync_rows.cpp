#include "backfill/repository/resync_rows.hpp"

#include <optional>

#include <fmt/format.h>

#include "backfill/repository/resync_rows.sql.hpp"
#include "base/account_number.hpp"
#include "postgres/locks.hpp"
#include "postgres/server_clock.hpp"
#include "postgres/sql_error.hpp"
#include "writer/account_locks.hpp"

namespace skua::backfill {
namespace {

using postgres::Session;
using postgres::Statement;

/// The number of rows in a step. A step takes some tens of milliseconds, for which the account's
/// live events wait.
constexpr int kRows = 5'000;

/// A row of resync_tables: a table whose rows are records.
struct RecordTable {
  std::string name;
  /// An SQL expression for the collection of a row.
  std::string collection;
};

/// A row of resync_actor.
struct ResyncActor {
  AccountNumber id;
  std::int64_t floor_rev;
  /// The revision, or nothing if the account has no row in skua.repositories.
  std::optional<std::int64_t> rev;
};

// Statements that name one or all tables of records are composed here, because the name of a table
// cannot be a parameter. All other statements are in resync_rows.sql.

/// Returns a query for the rows of the accounts with the numbers $1. Its columns identify a record
/// across all tables.
std::string select_rows(Session& session) {
  std::string sql;
  for (const RecordTable& table : session.query<RecordTable>(sql::resync_tables)) {
    if (!sql.empty()) sql += "UNION ALL";
    sql += fmt::format(R"sql(
SELECT t.actor_id, t.tableoid AS place, {}::int4 AS collection_id, t.rkey, t.cid
FROM {} AS t
WHERE t.actor_id = ANY($1::int8[]) AND t.cid IS NOT NULL
)sql",
                       table.collection, table.name);
  }
  return sql;
}

Statement remember(Session& session) {
  return {"resync_remember", "INSERT INTO rows_before" + select_rows(session)};
}

Statement compare(Session& session) {
  return {"resync_changed", fmt::format(R"sql(
WITH present AS ({}),
changed AS (
  SELECT coalesce(p.actor_id, b.actor_id) AS actor_id, count(p.cid) AS stored,
    count(*) FILTER (WHERE b.cid IS NULL) AS added, count(*) FILTER (WHERE p.cid IS NULL) AS removed,
    count(*) FILTER (WHERE p.cid <> b.cid) AS replaced
  FROM present AS p
  FULL JOIN pg_temp.rows_before AS b USING (actor_id, place, collection_id, rkey)
  GROUP BY 1
)
SELECT a.did, c.stored, c.added, c.removed, c.replaced
FROM changed AS c
JOIN bsky.actors AS a ON a.id = c.actor_id
ORDER BY a.did COLLATE "C"
)sql",
                                        select_rows(session))};
}

/// Returns a query for the newest revision among the rows of the account with the number $1.
Statement newest_row(const std::vector<RecordTable>& tables) {
  std::string newest;
  for (const RecordTable& table : tables) {
    if (!newest.empty()) newest += ", ";
    newest +=
        fmt::format("(SELECT max(t.rev) FROM {} AS t WHERE t.actor_id = $1::int8)", table.name);
  }
  return {"resync_newest_row", fmt::format("SELECT coalesce(greatest({}), 0)", newest)};
}

/// Returns a statement that lowers up to kRows rows of the account $1 that have one of the
/// revisions $2.
Statement lower(const RecordTable& table) {
  return {"resync_lower_" + table.name, fmt::format(R"sql(
UPDATE {0}
SET rev = rev - 1
WHERE actor_id = $1::int8 AND rev = ANY($2::int8[]) AND rev > 0
  AND ctid = ANY(
    ARRAY(SELECT ctid FROM {0} WHERE actor_id = $1::int8 AND rev = ANY($2::int8[]) AND rev > 0 LIMIT {1})
  )
)sql",
                                                    table.name, kRows)};
}

/// Executes one step of the statement for an account. Returns the number of changed rows.
std::size_t lower_some(Session& session, const Statement& statement, const ResyncActor& actor,
                       const std::vector<std::int64_t>& revs, const std::string& did) {
  for (;;) {
    try {
      postgres::Transaction transaction(session);
      postgres::lock_xact(session, writer::locks_of_account(session, did));
      const std::size_t rows = session.execute(statement, actor.id, revs).affected();
      transaction.commit();
      return rows;
    } catch (const postgres::ServerError& error) {
      // If another session writes to the account for longer than the lock timeout, the step is
      // repeated.
      if (error.sqlstate() != postgres::kLockNotAvailable || !session.connected()) throw;
    }
  }
}

}  // namespace

std::size_t lower_newest_revs(Session& session, const std::string& did) {
  const auto actor = session.query_first<ResyncActor>(sql::resync_actor, did);
  if (!actor) return 0;
  const auto tables = session.query<RecordTable>(sql::resync_tables);
  // Rows may have a newer revision than the repository. The rows of the repository's own revision
  // are then lowered, too.
  std::vector<std::int64_t> revs{session.query_one<std::int64_t>(newest_row(tables), actor->id),
                                 actor->floor_rev};
  if (actor->rev) revs.push_back(*actor->rev);
  std::size_t changed = 0;
  for (const RecordTable& table : tables) {
    const Statement statement = lower(table);
    for (;;) {
      const std::size_t rows = lower_some(session, statement, *actor, revs, did);
      changed += rows;
      if (rows < std::size_t{kRows}) break;
    }
  }
  return changed;
}

void remember_rows(Session& session, std::span<const std::string> dids) {
  const auto actors = session.query<AccountNumber>(sql::resync_actors, dids);
  session.execute(sql::resync_create_before);
  session.execute(sql::resync_empty_before);
  session.execute(remember(session), actors);
  session.execute(sql::resync_analyze_before);
}

void request_resync(Session& session, std::span<const NewJob> jobs) {
  for (const NewJob& job : jobs) lower_newest_revs(session, job.did);
  add_jobs(session, jobs, Again::Yes, postgres::server_time(session));
}

std::vector<RowsChanged> rows_changed(Session& session, std::span<const std::string> dids) {
  const auto actors = session.query<AccountNumber>(sql::resync_actors, dids);
  return session.query<RowsChanged>(compare(session), actors);
}

}  // namespace skua::backfill
