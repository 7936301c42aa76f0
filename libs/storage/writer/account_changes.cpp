#include "writer/account_changes.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <ranges>
#include <set>
#include <string>
#include <string_view>
#include <variant>

#include "base/account_number.hpp"
#include "base/crash_point.hpp"
#include "postgres/locks.hpp"
#include "postgres/sql_error.hpp"
#include "records/record.hpp"
#include "writer/account_changes.sql.hpp"
#include "writer/account_locks.hpp"
#include "writer/effects.hpp"
#include "writer/handle_claims.hpp"
#include "writer/table_writer.hpp"
#include "writer/tables/labels.hpp"

namespace skua::writer {

namespace {

using event::AccountChange;
using event::IdentityChange;
using postgres::column;

struct WrittenStatus {
  AccountNumber actor_id;
  bool has_changed;
  bool is_deleted;
};

/// Keeps the newest change of each account. If the times are equal, the later change of the batch
/// is the newest.
template <class Change>
void keep_newest(std::map<AccountNumber, const Change*>& newest, AccountNumber actor_id,
                 const Change& change) {
  const auto [place, inserted] = newest.try_emplace(actor_id, &change);
  if (!inserted && change.time >= place->second->time) place->second = &change;
}

void write_handles(postgres::Session& session,
                   const std::map<AccountNumber, const IdentityChange*>& changes, Timestamp now,
                   Effects& effects) {
  std::vector<HandleClaim> claims;
  claims.reserve(changes.size());
  for (const auto& [id, change] : changes) claims.push_back({id, *change->handle, change->time});
  write_handle_claims(session, claims, now, effects);
}

void write_statuses(postgres::Session& session,
                    const std::map<AccountNumber, const AccountChange*>& changes,
                    Effects& effects) {
  const auto status = [](const auto& entry) -> std::optional<std::string_view> {
    if (entry.second->status.empty()) return std::nullopt;
    return entry.second->status;
  };
  for (const auto& [id, has_changed, is_deleted] : session.query<WrittenStatus>(
           sql::actors_status, std::views::keys(changes),
           column(changes, [](const auto& entry) { return entry.second->active; }),
           column(changes, status),
           column(changes, [](const auto& entry) { return entry.second->time; }))) {
    if (has_changed) effects.account_changed(id, is_deleted);
  }
}

/// Returns the newest revision that a deleted account had. If it is not known, returns the last
/// revision that is possible at the time of the deletion. The time is not in the future
/// (pipeline::dispatch).
atproto::Tid floor_of(const AccountChange& change) {
  if (change.last_rev.value != 0) return change.last_rev;
  return atproto::Tid::from_time(change.time, 1023);
}

std::vector<std::string> write_deletions(
    postgres::Session& session, const std::map<AccountNumber, Purge>& deletions,
    const std::map<AccountNumber, const AccountChange*>& newest) {
  std::vector<Purge> purges;
  for (const AccountNumber id : session.query<AccountNumber>(
           sql::actors_floor, std::views::keys(deletions),
           column(deletions, [](const auto& entry) { return entry.second.floor; }),
           column(deletions, [&](const auto& entry) { return newest.at(entry.first)->time; }))) {
    purges.push_back(deletions.at(id));
  }
  return add_purges(session, purges);
}

struct PurgedAccount {
  AccountNumber actor_id;
  atproto::Tid floor;
  Timestamp said_at;

  Purge purge_of(const std::string& did) const { return {did, actor_id, floor, said_at}; }
};

/// Deletes up to `limit` rows. Returns the number of rows, which is less than `limit` if none is
/// left.
std::size_t purge_rows(postgres::Session& session, const Purge& purge, std::size_t limit,
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

/// Waits at most a second. Workers lock an account for milliseconds. The end of a download may take
/// seconds, so the purge then continues later, and does not delay the caller.
bool lock_within_a_second(postgres::Session& session, const std::string& did) {
  session.run("SET LOCAL lock_timeout = '1s'");
  try {
    postgres::lock_xact(session, locks_of_account(session, did));
    return true;
  } catch (const postgres::ServerError& error) {
    if (error.sqlstate() != postgres::kLockNotAvailable || !session.connected()) throw;
    return false;
  }
}

}  // namespace

void write_tombstones(postgres::Session& session,
                      std::span<const event::ResolvedEvent* const> deletes,
                      const SourceNames& sources) {
  using event::ResolvedEvent;
  using postgres::column;
  session.execute(
      sql::tombstones_upsert, column(deletes, &ResolvedEvent::actor_id),
      column(deletes, &ResolvedEvent::collection_id), column(deletes, &ResolvedEvent::rkey_number),
      column(deletes, [](const ResolvedEvent* deleted) { return deleted->change().rev; }),
      column(deletes, [](const ResolvedEvent* deleted) { return deleted->event.seq; }),
      column(deletes, [&](const ResolvedEvent* deleted) { return sources.of(*deleted); }));
}

std::vector<std::string> write_account_changes(postgres::Session& session,
                                               std::span<const event::ResolvedEvent* const> events,
                                               Timestamp now, Effects& effects) {
  std::map<AccountNumber, const IdentityChange*> identities;
  std::map<AccountNumber, const AccountChange*> accounts;
  std::map<AccountNumber, Purge> deletions;
  std::set<std::string_view> active;
  for (const event::ResolvedEvent* event : events) {
    const auto& body = event->event.body;
    // An identity event without a handle requests a look-up. It does not mean that the account has
    // no handle.
    if (const auto* identity = std::get_if<IdentityChange>(&body); identity && identity->handle) {
      keep_newest(identities, event->actor_id, *identity);
    } else if (const auto* account = std::get_if<AccountChange>(&body)) {
      keep_newest(accounts, event->actor_id, *account);
      if (account->active) active.insert(event->event.did);
      if (account->purge) {
        Purge& deletion = deletions[event->actor_id];
        deletion.did = event->event.did;
        deletion.actor_id = event->actor_id;
        deletion.floor = std::max(deletion.floor, floor_of(*account));
        deletion.said_at = std::max(deletion.said_at, account->time);
      }
    }
  }
  if (!identities.empty()) write_handles(session, identities, now, effects);
  if (!accounts.empty()) write_statuses(session, accounts, effects);
  // The jobs of active accounts are queued again. An active account has a repository, which its
  // host may have refused before.
  if (!active.empty()) session.execute(sql::actors_queue_again, active, now);
  if (deletions.empty()) return {};
  return write_deletions(session, deletions, accounts);
}

std::vector<std::string> add_purges(postgres::Session& session, std::span<const Purge> purges) {
  using postgres::column;
  return session.query<std::string>(sql::purge_add, column(purges, &Purge::did),
                                    column(purges, &Purge::actor_id), column(purges, &Purge::floor),
                                    column(purges, &Purge::said_at));
}

PurgeStep purge_step(postgres::Session& session, const std::string& did, std::size_t limit) {
  postgres::Transaction transaction(session);
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

std::vector<std::string> purges_after(postgres::Session& session, const std::string& did) {
  return session.query<std::string>(sql::purge_after, did);
}

Confirmation confirm_deletion(postgres::Session& session, const std::string& did,
                              std::optional<Timestamp> tombstoned_at) {
  postgres::Transaction transaction(session);
  postgres::lock_xact(session, locks_of_account(session, did));
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
