#include "writer/bulk_guard.hpp"

#include <algorithm>

#include "base/account_number.hpp"
#include "records/record.hpp"
#include "writer/bulk_guard.sql.hpp"

namespace skua::writer {
namespace {

std::uint64_t rev_of(const store::Rows& rows, std::size_t row, std::size_t column) {
  return static_cast<std::uint64_t>(rows.int8(row, column));
}

}  // namespace

BulkGuard::BulkGuard(store::Session& session, std::span<const AccountNumber> actors) {
  store::Array array(store::Array::Type::int8);
  for (const AccountNumber actor : actors) array.int8(actor);
  store::Params params;
  params.array(array);
  const store::Rows old = session.execute(sql::bulk_guard_old, params);
  for (std::size_t i = 0; i < old.size(); ++i) old_.emplace(old.int8(i, 0), rev_of(old, i, 1));
  const store::Rows heads = session.execute(sql::bulk_guard_heads, params);
  for (std::size_t i = 0; i < heads.size(); ++i) {
    heads_.emplace(heads.int8(i, 0), rev_of(heads, i, 1));
  }

  const auto take = [](const store::Rows& rows, Map<RecordKey, std::uint64_t>& map) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      map.emplace(RecordKey{rows.int8(i, 0), rows.int4(i, 1), rows.int8(i, 2)}, rev_of(rows, i, 3));
    }
  };
  take(session.execute(sql::bulk_guard_tombstones, params), tombstones_);
  params.int4(static_cast<std::int32_t>(records::kTypedCollections));
  take(session.execute(sql::bulk_guard_invalid, params), records_);
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
