#include "writer/account_changes.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <variant>

#include "base/account_number.hpp"
#include "writer/account_changes.sql.hpp"
#include "writer/handle_claims.hpp"
#include "writer/purge.hpp"

namespace skua::writer {
namespace {

using event::AccountChange;
using event::IdentityChange;
using store::Array;

/// Keeps the newest change of each account, the later one where the times are equal.
template <class Change>
void keep_newest(std::map<AccountNumber, const Change*>& newest, AccountNumber actor_id,
                 const Change& change) {
  const auto [place, inserted] = newest.try_emplace(actor_id, &change);
  if (!inserted && change.time >= place->second->time) place->second = &change;
}

void write_handles(store::Session& session,
                   const std::map<AccountNumber, const IdentityChange*>& changes, Timestamp now,
                   Effects& effects) {
  std::vector<HandleClaim> claims;
  claims.reserve(changes.size());
  for (const auto& [id, change] : changes) claims.push_back({id, *change->handle, change->time});
  write_handle_claims(session, claims, now, effects);
}

void write_statuses(store::Session& session,
                    const std::map<AccountNumber, const AccountChange*>& changes, Effects& effects) {
  Array ids(Array::Type::int8);
  Array active(Array::Type::boolean);
  Array statuses(Array::Type::text);
  Array times(Array::Type::timestamptz);
  for (const auto& [id, change] : changes) {
    ids.int8(id);
    active.boolean(change->active);
    if (change->status.empty()) {
      statuses.null();
    } else {
      statuses.text(change->status);
    }
    times.timestamp(change->time);
  }
  store::Params params;
  params.array(ids).array(active).array(statuses).array(times);
  const store::Rows written = session.execute(sql::actors_status, params);
  for (std::size_t i = 0; i < written.size(); ++i) {
    if (written.boolean(i, 1)) effects.account_changed(written.int8(i, 0), written.boolean(i, 2));
  }
}

/// Accounts that are active now get the history that could not be had before.
void queue_again(store::Session& session, const std::set<std::string_view>& dids, Timestamp now) {
  Array array(Array::Type::text);
  for (const std::string_view did : dids) array.text(did);
  store::Params params;
  params.array(array).timestamp(now);
  session.execute(sql::actors_queue_again, params);
}

/// The newest revision that a deleted account had, as far as it is known: else whatever was made
/// before it was said. A host whose clock runs ahead has been bounded by then (ingest::dispatch).
atproto::Tid floor_of(const AccountChange& change) {
  if (change.last_rev.value != 0) return change.last_rev;
  return atproto::Tid::from_time(change.time, 1023);
}

std::vector<std::string> write_deletions(
    store::Session& session, const std::map<AccountNumber, Purge>& deletions,
    const std::map<AccountNumber, const AccountChange*>& newest) {
  Array ids(Array::Type::int8);
  Array revs(Array::Type::int8);
  Array times(Array::Type::timestamptz);
  for (const auto& [id, deletion] : deletions) {
    ids.int8(id);
    revs.int8(static_cast<std::int64_t>(deletion.floor.value));
    times.timestamp(newest.at(id)->time);
  }
  store::Params params;
  params.array(ids).array(revs).array(times);
  const store::Rows rows = session.execute(sql::actors_floor, params);
  std::vector<Purge> purges;
  for (std::size_t i = 0; i < rows.size(); ++i) purges.push_back(deletions.at(rows.int8(i, 0)));
  return add_purges(session, purges);
}

}  // namespace

std::vector<std::string> write_account_changes(store::Session& session,
                                               std::span<const event::ResolvedEvent* const> events,
                                               Timestamp now, Effects& effects) {
  std::map<AccountNumber, const IdentityChange*> identities;
  std::map<AccountNumber, const AccountChange*> accounts;
  std::map<AccountNumber, Purge> deletions;
  std::set<std::string_view> active;
  for (const event::ResolvedEvent* event : events) {
    const auto& body = event->event.body;
    // An identity event without a handle says "look again", not "there is none".
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
  if (!active.empty()) queue_again(session, active, now);
  if (deletions.empty()) return {};
  return write_deletions(session, deletions, accounts);
}

}  // namespace skua::writer
