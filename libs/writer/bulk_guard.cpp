#include "writer/bulk_guard.hpp"

#include <algorithm>

#include "base/account_number.hpp"
#include "records/record.hpp"
#include "writer/bulk_guard.sql.hpp"

namespace skua::writer {
namespace {

struct AccountRevision {
  AccountNumber actor_id;
  atproto::Tid rev;
};

struct RecordRevision {
  AccountNumber actor_id;
  std::int32_t collection_id;
  std::int64_t rkey;
  atproto::Tid rev;
};

}  // namespace

BulkGuard::BulkGuard(store::Session& session, std::span<const AccountNumber> actors) {
  for (const auto& [actor, rev] : session.query<AccountRevision>(sql::bulk_guard_old, actors)) {
    old_.emplace(actor, rev.value);
  }
  for (const auto& [actor, rev] : session.query<AccountRevision>(sql::bulk_guard_heads, actors)) {
    heads_.emplace(actor, rev.value);
  }
  for (const auto& [actor, collection, rkey, rev] :
       session.query<RecordRevision>(sql::bulk_guard_tombstones, actors)) {
    tombstones_.emplace(RecordKey{actor, collection, rkey}, rev.value);
  }
  for (const auto& [actor, collection, rkey, rev] :
       session.query<RecordRevision>(sql::bulk_guard_invalid, actors,
                                     static_cast<std::int32_t>(records::kTypedCollections))) {
    records_.emplace(RecordKey{actor, collection, rkey}, rev.value);
  }
}

std::vector<GuardedChange> BulkGuard::news(
    std::span<const event::ResolvedEvent* const> changes) const {
  std::vector<GuardedChange> news;
  news.reserve(changes.size());
  for (const event::ResolvedEvent* change : changes) {
    const std::uint64_t rev = change->change().rev.value;
    if (const auto old = old_.find(change->actor_id); old != old_.end() && rev <= old->second) {
      continue;
    }
    bool has_records_row = false;
    if (!tombstones_.empty() || !records_.empty()) {
      const RecordKey key = key_of(*change);
      const auto tombstone = tombstones_.find(key);
      if (tombstone != tombstones_.end() && rev <= tombstone->second) continue;
      const auto record = records_.find(key);
      has_records_row = record != records_.end();
      if (has_records_row && rev <= record->second) continue;
    }
    news.push_back({change, has_records_row});
  }
  return news;
}

std::vector<AccountNumber> BulkGuard::settled(
    std::span<const event::ResolvedEvent* const> changes) const {
  std::vector<AccountNumber> settled;
  if (heads_.empty()) return settled;
  Map<AccountNumber, std::uint64_t> newest;
  for (const event::ResolvedEvent* change : changes) {
    std::uint64_t& rev = newest[change->actor_id];
    rev = std::max(rev, change->change().rev.value);
  }
  for (const auto& [actor, rev] : newest) {
    const auto head = heads_.find(actor);
    if (head != heads_.end() && rev <= head->second) settled.push_back(actor);
  }
  std::sort(settled.begin(), settled.end());
  return settled;
}

}  // namespace skua::writer
