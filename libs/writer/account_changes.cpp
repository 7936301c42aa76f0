#include "writer/account_changes.hpp"

#include <algorithm>
#include <map>
#include <variant>

#include "store/advisory_lock.hpp"

namespace skua::writer {
namespace {

using event::AccountChange;
using event::IdentityChange;
using store::Array;

const store::Statement kHandles{
    "actors_handle",
    "UPDATE bsky.actors AS a SET handle_time = h.time, handle = CASE WHEN EXISTS ("
    "SELECT FROM bsky.actors AS o WHERE o.handle = h.handle AND o.id <> a.id "
    "AND (o.handle_time, o.id) > (h.time, a.id)) THEN NULL ELSE h.handle END "
    "FROM unnest($1::int4[], $2::text[], $3::timestamptz[]) AS h(id, handle, time) "
    "WHERE a.id = h.id AND (a.handle_time IS NULL OR a.handle_time < h.time)"};

// Whoever had a handle that somebody else claimed later has none now. Of two claims of one instant
// the higher id's counts as the later one.
const store::Statement kTaken{
    "actors_handle_taken",
    "UPDATE bsky.actors AS a SET handle = NULL "
    "FROM unnest($1::int4[], $2::text[], $3::timestamptz[]) AS h(id, handle, time) "
    "WHERE a.handle = h.handle AND a.id <> h.id AND (a.handle_time, a.id) < (h.time, h.id)"};

const store::Statement kStatuses{
    "actors_status",
    "UPDATE bsky.actors AS a SET active = s.active, status = s.status, status_time = s.time "
    "FROM unnest($1::int4[], $2::boolean[], $3::text[], $4::timestamptz[]) "
    "AS s(id, active, status, time) "
    "WHERE a.id = s.id AND (a.status_time IS NULL OR a.status_time < s.time)"};

// Only where the deletion, or what followed it in this batch, is the newest word; or where its
// floor stands already: it was the newest word then, and its purge may have been cut off.
const store::Statement kFloors{
    "actors_floor",
    "UPDATE bsky.actors AS a SET floor_rev = greatest(a.floor_rev, f.rev) "
    "FROM unnest($1::int4[], $2::int8[], $3::timestamptz[]) AS f(id, rev, time) "
    "WHERE a.id = f.id AND (a.status_time = f.time OR a.floor_rev >= f.rev) RETURNING a.id"};

/// In the place of a record type: none has this number.
constexpr std::uint8_t kHandleLock = 255;

/// Keeps the newest change of each account, the later one where the times are equal.
template <class Change>
void keep_newest(std::map<std::int32_t, const Change*>& newest, std::int32_t actor_id,
                 const Change& change) {
  const auto [place, inserted] = newest.try_emplace(actor_id, &change);
  if (!inserted && change.time >= place->second->time) place->second = &change;
}

/// Two claims of one handle that do not see each other would both keep it: the second waits.
void lock_handles(store::Session& session,
                  const std::map<std::int32_t, const IdentityChange*>& changes) {
  std::vector<std::int64_t> keys;
  for (const auto& [id, change] : changes) {
    if (!change->handle->empty()) keys.push_back(store::lock_key(kHandleLock, *change->handle));
  }
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  if (!keys.empty()) store::lock_xact(session, keys);
}

std::size_t write_handles(store::Session& session,
                          const std::map<std::int32_t, const IdentityChange*>& changes) {
  lock_handles(session, changes);
  Array ids(Array::Type::int4);
  Array handles(Array::Type::text);
  Array times(Array::Type::timestamptz);
  for (const auto& [id, change] : changes) {
    ids.int4(id);
    if (change->handle->empty()) {
      handles.null();
    } else {
      handles.text(*change->handle);
    }
    times.timestamp(change->time);
  }
  store::Params params;
  params.array(ids).array(handles).array(times);
  const std::size_t changed = session.execute(kHandles, params).affected();
  return changed + session.execute(kTaken, params).affected();
}

std::size_t write_statuses(store::Session& session,
                           const std::map<std::int32_t, const AccountChange*>& changes) {
  Array ids(Array::Type::int4);
  Array active(Array::Type::boolean);
  Array statuses(Array::Type::text);
  Array times(Array::Type::timestamptz);
  for (const auto& [id, change] : changes) {
    ids.int4(id);
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
  return session.execute(kStatuses, params).affected();
}

/// The newest revision that a deleted account had, as far as it is known: else whatever was made
/// before it was said, for which a host's clock may not run ahead of ours.
atproto::Tid floor_of(const AccountChange& change, Timestamp now) {
  if (change.last_rev.value != 0) return change.last_rev;
  return atproto::Tid::from_time(std::min(change.time, now), 1023);
}

std::vector<Purge> write_floors(store::Session& session,
                                const std::map<std::int32_t, atproto::Tid>& floors,
                                const std::map<std::int32_t, const AccountChange*>& newest) {
  Array ids(Array::Type::int4);
  Array revs(Array::Type::int8);
  Array times(Array::Type::timestamptz);
  for (const auto& [id, floor] : floors) {
    ids.int4(id);
    revs.int8(static_cast<std::int64_t>(floor.value));
    times.timestamp(newest.at(id)->time);
  }
  store::Params params;
  params.array(ids).array(revs).array(times);
  const store::Rows rows = session.execute(kFloors, params);
  std::vector<Purge> purges;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    purges.push_back({rows.int4(i, 0), floors.at(rows.int4(i, 0))});
  }
  return purges;
}

}  // namespace

AccountsWritten write_account_changes(store::Session& session,
                                      std::span<const event::ResolvedEvent* const> events,
                                      Timestamp now) {
  std::map<std::int32_t, const IdentityChange*> identities;
  std::map<std::int32_t, const AccountChange*> accounts;
  std::map<std::int32_t, atproto::Tid> floors;
  for (const event::ResolvedEvent* event : events) {
    const auto& body = event->event.body;
    // An identity event without a handle says "look again", not "there is none".
    if (const auto* identity = std::get_if<IdentityChange>(&body); identity && identity->handle) {
      keep_newest(identities, event->actor_id, *identity);
    } else if (const auto* account = std::get_if<AccountChange>(&body)) {
      keep_newest(accounts, event->actor_id, *account);
      if (account->purge) {
        atproto::Tid& floor = floors[event->actor_id];
        floor = std::max(floor, floor_of(*account, now));
      }
    }
  }
  AccountsWritten written;
  if (!identities.empty()) written.accounts += write_handles(session, identities);
  if (!accounts.empty()) written.accounts += write_statuses(session, accounts);
  if (!floors.empty()) written.purges = write_floors(session, floors, accounts);
  return written;
}

}  // namespace skua::writer
