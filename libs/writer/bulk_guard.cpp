#include "writer/bulk_guard.hpp"

#include <algorithm>

#include "records/record.hpp"

namespace skua::writer {
namespace {

// A CAR of the very revision of the floor holds what the floor was raised for: bringing it again
// repairs. But what an account had when it was deleted stays deleted.
const store::Statement kOld{
    "bulk_guard_old",
    "SELECT id, CASE WHEN status = 'deleted' THEN floor_rev ELSE floor_rev - 1 END "
    "FROM bsky.actors WHERE id = ANY($1::int4[]) AND floor_rev > 0"};

// Never ahead of its rows.
const store::Statement kHeads{
    "bulk_guard_heads",
    "SELECT k.id, r.rev FROM unnest($1::int4[]) AS k(id) "
    "JOIN bsky.actors AS a ON a.id = k.id "
    "CROSS JOIN LATERAL (SELECT * FROM skua.repositories AS r WHERE r.did = a.did OFFSET 0) AS r "
    "WHERE r.rev IS NOT NULL"};

// OFFSET 0 as in guard.cpp: whatever the tables looked like when it was planned, the accounts' rows
// are looked up by key.
const store::Statement kTombstones{
    "bulk_guard_tombstones",
    "SELECT t.actor_id, t.collection_id, t.rkey, t.rev FROM unnest($1::int4[]) AS a(id) "
    "CROSS JOIN LATERAL (SELECT * FROM skua.tombstones AS t WHERE t.actor_id = a.id OFFSET 0) AS "
    "t"};

/// Records of typed collections that stand in `bsky.records`, because they broke their lexicon.
const store::Statement kInvalid{
    "bulk_guard_invalid",
    "SELECT r.actor_id, r.collection_id, r.rkey, r.rev FROM unnest($1::int4[]) AS a(id) "
    "CROSS JOIN LATERAL (SELECT * FROM bsky.records AS r WHERE "
    "(r.actor_id, r.collection_id) >= (a.id, 1) AND (r.actor_id, r.collection_id) <= (a.id, "
    "$2::int4) OFFSET 0) AS r"};

std::uint64_t rev_of(const store::Rows& rows, std::size_t row, std::size_t column) {
  return static_cast<std::uint64_t>(rows.int8(row, column));
}

}  // namespace

BulkGuard::BulkGuard(store::Session& session, std::span<const std::int32_t> actors) {
  store::Array array(store::Array::Type::int4);
  for (const std::int32_t actor : actors) array.int4(actor);
  store::Params params;
  params.array(array);
  const store::Rows old = session.execute(kOld, params);
  for (std::size_t i = 0; i < old.size(); ++i) old_.emplace(old.int4(i, 0), rev_of(old, i, 1));
  const store::Rows heads = session.execute(kHeads, params);
  for (std::size_t i = 0; i < heads.size(); ++i) {
    heads_.emplace(heads.int4(i, 0), rev_of(heads, i, 1));
  }

  const auto take = [](const store::Rows& rows, Map<RecordId, std::uint64_t>& map) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      map.emplace(RecordId{rows.int4(i, 0), rows.int4(i, 1), rows.int8(i, 2)}, rev_of(rows, i, 3));
    }
  };
  take(session.execute(kTombstones, params), tombstones_);
  params.int4(static_cast<std::int32_t>(records::kTypedCollections));
  take(session.execute(kInvalid, params), records_);
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
      const RecordId key = RecordId::of(*change);
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

std::vector<std::int32_t> BulkGuard::settled(
    std::span<const event::ResolvedEvent* const> changes) const {
  std::vector<std::int32_t> settled;
  if (heads_.empty()) return settled;
  Map<std::int32_t, std::uint64_t> newest;
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
