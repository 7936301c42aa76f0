#include "writer/account_changes.hpp"

#include <map>
#include <variant>

namespace skua::writer {
namespace {

using event::AccountChange;
using event::IdentityChange;
using store::Array;

const store::Statement kHandles{
    "actors_handle",
    "UPDATE bsky.actors AS a SET handle = h.handle, handle_time = h.time "
    "FROM unnest($1::int4[], $2::text[], $3::timestamptz[]) AS h(id, handle, time) "
    "WHERE a.id = h.id AND (a.handle_time IS NULL OR a.handle_time < h.time)"};

const store::Statement kStatuses{
    "actors_status",
    "UPDATE bsky.actors AS a SET active = s.active, status = s.status, status_time = s.time "
    "FROM unnest($1::int4[], $2::boolean[], $3::text[], $4::timestamptz[]) "
    "AS s(id, active, status, time) "
    "WHERE a.id = s.id AND (a.status_time IS NULL OR a.status_time < s.time)"};

/// Keeps the newest change of each account, the later one where the times are equal.
template <class Change>
void keep_newest(std::map<std::int32_t, const Change*>& newest, std::int32_t actor_id,
                 const Change& change) {
  const auto [place, inserted] = newest.try_emplace(actor_id, &change);
  if (!inserted && change.time >= place->second->time) place->second = &change;
}

std::size_t write_handles(store::Session& session,
                          const std::map<std::int32_t, const IdentityChange*>& changes) {
  Array ids(Array::Type::int4);
  Array handles(Array::Type::text);
  Array times(Array::Type::timestamptz);
  for (const auto& [id, change] : changes) {
    ids.int4(id);
    handles.text(*change->handle);
    times.timestamp(change->time);
  }
  store::Params params;
  params.array(ids).array(handles).array(times);
  return session.execute(kHandles, params).affected();
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

}  // namespace

std::size_t write_account_changes(store::Session& session,
                                  std::span<const event::ResolvedEvent* const> events) {
  std::map<std::int32_t, const IdentityChange*> identities;
  std::map<std::int32_t, const AccountChange*> accounts;
  for (const event::ResolvedEvent* event : events) {
    const auto& body = event->event.body;
    // An identity event without a handle says "look again", not "there is none".
    if (const auto* identity = std::get_if<IdentityChange>(&body); identity && identity->handle) {
      keep_newest(identities, event->actor_id, *identity);
    } else if (const auto* account = std::get_if<AccountChange>(&body)) {
      keep_newest(accounts, event->actor_id, *account);
    }
  }
  std::size_t changed = 0;
  if (!identities.empty()) changed += write_handles(session, identities);
  if (!accounts.empty()) changed += write_statuses(session, accounts);
  return changed;
}

}  // namespace skua::writer
