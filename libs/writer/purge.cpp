#include "writer/purge.hpp"

#include "base/crash_point.hpp"
#include "records/record.hpp"
#include "store/advisory_lock.hpp"
#include "store/sql_error.hpp"
#include "store/sqlstate.hpp"
#include "writer/account_locks.hpp"
#include "writer/effects.hpp"
#include "writer/purge.sql.hpp"
#include "writer/table_writer.hpp"
#include "writer/tables/labels.hpp"

namespace skua::writer {
namespace {

struct PurgedAccount {
  AccountNumber actor_id;
  atproto::Tid floor;
  Timestamp said_at;

  Purge purge_of(const std::string& did) const { return {did, actor_id, floor, said_at}; }
};

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

}  // namespace

std::vector<std::string> add_purges(store::Session& session, std::span<const Purge> purges) {
  using store::column;
  return session.query<std::string>(sql::purge_add, column(purges, &Purge::did),
                                    column(purges, &Purge::actor_id), column(purges, &Purge::floor),
                                    column(purges, &Purge::said_at));
}

PurgeStep purge_step(store::Session& session, const std::string& did, std::size_t limit) {
  store::Transaction transaction(session);
  if (!lock_within_a_second(session, did)) return {};
  const auto found = session.query_first<PurgedAccount>(sql::purge_find, did);
  if (!found) return {.is_done = true};
  const Purge purge = found->purge_of(did);
  Effects effects;
  PurgeStep step;
  step.rows = purge_rows(session, purge, limit, effects);
  step.is_done = step.rows < limit;
  if (step.is_done) session.execute(sql::purge_done, did);
  effects.finish(session);
  crash_point("before_purge_commit");
  transaction.commit();
  return step;
}

std::vector<std::string> purges_after(store::Session& session, const std::string& did) {
  return session.query<std::string>(sql::purge_after, did);
}

Confirmation confirm_deletion(store::Session& session, const std::string& did,
                              std::optional<Timestamp> tombstoned_at) {
  store::Transaction transaction(session);
  store::lock_xact(session, locks_of_account(session, did));
  Effects effects;
  if (tombstoned_at) {
    const auto changed =
        session.query_first<AccountNumber>(sql::purge_tombstone, did, *tombstoned_at);
    if (changed) effects.account_changed(*changed, true);
  }
  const auto raised = session.query_first<PurgedAccount>(sql::purge_raise, did);
  Confirmation confirmation{.is_deleted = raised.has_value()};
  if (raised) {
    const Purge purge = raised->purge_of(did);
    confirmation.has_rows = !add_purges(session, {&purge, 1}).empty();
  }
  effects.finish(session);
  transaction.commit();
  return confirmation;
}

}  // namespace skua::writer
