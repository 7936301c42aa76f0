#include "writer/purge.hpp"

#include "base/crash_point.hpp"
#include "records/record.hpp"
#include "store/advisory_lock.hpp"
#include "store/first_column.hpp"
#include "store/sql_error.hpp"
#include "store/sqlstate.hpp"
#include "writer/account_locks.hpp"
#include "writer/effects.hpp"
#include "writer/table_writer.hpp"
#include "writer/tables/labels.hpp"

namespace skua::writer {
namespace {

using store::Statement;

const Statement kRaise{
    "purge_raise",
    "UPDATE bsky.actors AS a SET floor_rev = greatest(a.floor_rev, known.rev, "
    "(extract(epoch FROM a.status_time) * 1000000)::int8 << 10 | 1023) "
    "FROM bsky.actors AS b LEFT JOIN skua.repositories AS known ON known.did = b.did "
    "WHERE b.did = $1 AND a.id = b.id AND a.status = 'deleted' AND a.status_time IS NOT NULL "
    "RETURNING a.id, a.floor_rev, a.status_time"};

const Statement kAdd{
    "purge_add",
    "INSERT INTO skua.purges AS p (did, actor_id, floor_rev, said_at) "
    "SELECT n.did, n.id, n.rev, n.at FROM unnest($1::text[], $2::int4[], $3::int8[], "
    "$4::timestamptz[]) AS n(did, id, rev, at) "
    "WHERE EXISTS (SELECT FROM bsky.all_records AS r WHERE r.did = n.did) "
    "OR EXISTS (SELECT FROM bsky.labels AS l WHERE l.actor_id = n.id) "
    "ON CONFLICT (did) DO UPDATE SET floor_rev = greatest(p.floor_rev, EXCLUDED.floor_rev), "
    "said_at = greatest(p.said_at, EXCLUDED.said_at) RETURNING did"};

const Statement kFind{"purge_find",
                      "SELECT actor_id, floor_rev, said_at FROM skua.purges WHERE did = $1::text"};

const Statement kDone{"purge_done", "DELETE FROM skua.purges WHERE did = $1::text"};

const Statement kAfter{"purge_after",
                       "SELECT did FROM skua.purges WHERE did > $1::text AND NOT EXISTS (SELECT "
                       "FROM skua.dropped_indexes) ORDER BY did LIMIT 100"};

/// The purge in a row with the number of the account, the minimum revision and the time.
Purge purge_in(const store::Rows& rows, const std::string& did) {
  return {
      did, rows.int4(0, 0), {static_cast<std::uint64_t>(rows.int8(0, 1))}, rows.timestamp(0, 2)};
}

/// Deletes up to `limit` rows. Returns their number: fewer if none is left.
std::size_t purge_rows(store::Session& session, const Purge& purge, std::size_t limit,
                       Effects& effects) {
  const auto floor = static_cast<std::int64_t>(purge.floor.value);
  std::size_t rows = records_table().purge(session, purge.actor_id, floor, limit, effects);
  for (int id = 1; id <= static_cast<int>(records::kTypedCollections) && rows < limit; ++id) {
    if (const TableWriter* table = table_of(id)) {
      rows += table->purge(session, purge.actor_id, floor, limit - rows, effects);
    }
  }
  if (rows == limit) return rows;
  return rows + purge_labels(session, purge.actor_id, purge.said_at, limit - rows, effects);
}

/// Workers lock an account for milliseconds. The end of a download may take seconds: the purge then
/// continues later, and does not delay the caller.
bool lock_within_a_second(store::Session& session, const std::string& did) {
  session.run("SET LOCAL lock_timeout = '1s'");
  try {
    store::lock_xact(session, locks_of_account(session, did));
    return true;
  } catch (const store::ServerError& error) {
    if (error.sqlstate() != store::kLockNotAvailable || !session.connected()) throw;
    return false;
  }
}

const store::Statement kTombstone{
    "purge_tombstone",
    "UPDATE bsky.actors SET active = false, status = 'deleted', status_time = $2::timestamptz "
    "WHERE did = $1 AND status IS DISTINCT FROM 'deleted' RETURNING id"};

}  // namespace

std::vector<std::string> add_purges(store::Session& session, std::span<const Purge> purges) {
  store::Array dids(store::Array::Type::text);
  store::Array ids(store::Array::Type::int4);
  store::Array revs(store::Array::Type::int8);
  store::Array times(store::Array::Type::timestamptz);
  for (const Purge& purge : purges) {
    dids.text(purge.did);
    ids.int4(purge.actor_id);
    revs.int8(static_cast<std::int64_t>(purge.floor.value));
    times.timestamp(purge.said_at);
  }
  store::Params params;
  params.array(dids).array(ids).array(revs).array(times);
  return store::first_column(session.execute(kAdd, params));
}

PurgeStep purge_step(store::Session& session, const std::string& did, std::size_t limit) {
  store::Params of_did;
  of_did.text(did);
  store::Transaction transaction(session);
  if (!lock_within_a_second(session, did)) return {};
  const store::Rows found = session.execute(kFind, of_did);
  if (found.empty()) return {.is_done = true};
  const Purge purge = purge_in(found, did);
  Effects effects;
  PurgeStep step;
  step.rows = purge_rows(session, purge, limit, effects);
  step.is_done = step.rows < limit;
  if (step.is_done) session.execute(kDone, of_did);
  effects.finish(session);
  crash_point("before_purge_commit");
  transaction.commit();
  return step;
}

std::vector<std::string> purges_after(store::Session& session, const std::string& did) {
  store::Params params;
  params.text(did);
  return store::first_column(session.execute(kAfter, params));
}

Confirmation confirm_deletion(store::Session& session, const std::string& did,
                              std::optional<Timestamp> tombstoned_at) {
  store::Params params;
  params.text(did);
  store::Transaction transaction(session);
  store::lock_xact(session, locks_of_account(session, did));
  Effects effects;
  if (tombstoned_at) {
    store::Params tombstone;
    tombstone.text(did).timestamp(*tombstoned_at);
    const store::Rows changed = session.execute(kTombstone, tombstone);
    if (!changed.empty()) effects.account_changed(changed.int4(0, 0), true);
  }
  const store::Rows raised = session.execute(kRaise, params);
  Confirmation confirmation{.is_deleted = !raised.empty()};
  if (confirmation.is_deleted) {
    const Purge purge = purge_in(raised, did);
    confirmation.has_rows = !add_purges(session, {&purge, 1}).empty();
  }
  effects.finish(session);
  transaction.commit();
  return confirmation;
}

}  // namespace skua::writer
