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
#include "writer/account_changes.sql.hpp"
#include "writer/handle_claims.hpp"
#include "writer/purge.hpp"

namespace skua::writer {
namespace {

using event::AccountChange;
using event::IdentityChange;
using store::column;

struct WrittenStatus {
  AccountNumber actor_id;
  bool has_changed;
  bool is_deleted;
};

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

/// The newest revision that a deleted account had. If it is not known: the last one that is
/// possible at the time of the deletion. The time is not in the future (ingest::dispatch).
atproto::Tid floor_of(const AccountChange& change) {
  if (change.last_rev.value != 0) return change.last_rev;
  return atproto::Tid::from_time(change.time, 1023);
}

std::vector<std::string> write_deletions(
    store::Session& session, const std::map<AccountNumber, Purge>& deletions,
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
    // An identity event without a handle requests a look-up. It does not mean that the account has
    // none.
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
  // An active account has a repository, which its host may have refused before.
  if (!active.empty()) session.execute(sql::actors_queue_again, active, now);
  if (deletions.empty()) return {};
  return write_deletions(session, deletions, accounts);
}

}  // namespace skua::writer
