#include "writer/bulk_writer.hpp"

#include <algorithm>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "base/account_number.hpp"
#include "base/crash_point.hpp"
#include "ids/record_keys.hpp"
#include "postgres/locks.hpp"
#include "postgres/sql_error.hpp"
#include "records/record.hpp"
#include "tables/dead_letters.hpp"
#include "writer/bulk_writer.sql.hpp"
#include "writer/collection_writer.hpp"
#include "writer/dead_letter.hpp"
#include "writer/effects.hpp"
#include "writer/table_writer.hpp"

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

using event::ResolvedEvent;
using postgres::Array;
using EventPointers = std::vector<const ResolvedEvent*>;
using ids::kWorthCopying;

template <class T>
void sort_unique(std::vector<T>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

void lock_accounts(postgres::Session& session, BulkWriter::Events events) {
  std::vector<postgres::Lock> locks;
  std::string_view last;
  for (const ResolvedEvent* event : events) {
    if (event->event.did == last) continue;
    last = event->event.did;
    const auto type = static_cast<std::uint8_t>(event->event.type);
    locks.push_back(postgres::account_lock(session, type, last));
  }
  postgres::lock_xact(session, std::move(locks));
}

/// Returns the events that belong to no job, or to a job that this process still leases. Adds the
/// number of the other events to `lost`.
EventPointers events_of_our_jobs(postgres::Session& session, BulkWriter::Events events,
                                 std::span<const std::int64_t> lease_numbers, std::size_t& lost) {
  // The events of a job are adjacent, so one question per run of events suffices.
  struct Run {
    std::size_t first = 0;
    bool is_ours = false;
  };
  std::vector<Run> runs;
  std::vector<std::size_t> asked;
  Array dids(Array::Type::text);
  Array numbers(Array::Type::int8);
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (i > 0 && lease_numbers[i] == lease_numbers[i - 1] &&
        events[i]->event.did == events[i - 1]->event.did) {
      continue;
    }
    if (lease_numbers[i] != 0) {
      asked.push_back(runs.size());
      dids.text(events[i]->event.did);
      numbers.int8(lease_numbers[i]);
    }
    runs.push_back({i, lease_numbers[i] == 0});
  }
  if (!asked.empty()) {
    for (const std::int64_t place :
         session.query<std::int64_t>(sql::bulk_our_jobs, dids, numbers)) {
      runs[asked[static_cast<std::size_t>(place)]].is_ours = true;
    }
  }
  EventPointers ours;
  ours.reserve(events.size());
  for (std::size_t run = 0; run < runs.size(); ++run) {
    const std::size_t end = run + 1 < runs.size() ? runs[run + 1].first : events.size();
    if (!runs[run].is_ours) {
      lost += end - runs[run].first;
      continue;
    }
    for (std::size_t i = runs[run].first; i < end; ++i) ours.push_back(events[i]);
  }
  return ours;
}

std::vector<AccountNumber> actors_of(const EventPointers& changes) {
  std::vector<AccountNumber> actors;
  for (const ResolvedEvent* change : changes) {
    if (actors.empty() || actors.back() != change->actor_id) actors.push_back(change->actor_id);
  }
  sort_unique(actors);
  return actors;
}

enum class WriteMethod : std::uint8_t { Copy, Merge };

/// The method and the time of a write.
struct WriteOptions {
  WriteMethod method = WriteMethod::Copy;
  /// The accounts for the parameter `settled` of TableWriter::merge.
  std::vector<AccountNumber> settled;
  Timestamp now;
};

/// The row that a table has under the key of an event: none, a stub, or a record.
enum class KeyState : std::uint8_t { Free, Stub, Taken };

/// Finds the states of the events' keys. The events are sorted by key. A key that is found free can
/// only become taken by a row that another session inserts after the look-up. Most records of an
/// account's history have no rows yet, but live events may have added some. Therefore one look-up
/// reads all rows between the first and the last key, instead of one look-up for each event.
std::vector<KeyState> find_key_states(postgres::Session& session, const TableWriter& table,
                                      const EventPointers& events) {
  const auto in_one_range = [](const ResolvedEvent* a, const ResolvedEvent* b) {
    return a->actor_id == b->actor_id && a->collection_id == b->collection_id;
  };
  std::vector<KeyRange> ranges;
  std::vector<std::span<const ResolvedEvent* const>> events_of;
  for (auto first = events.begin(); first != events.end();) {
    const auto last = std::find_if(first, events.end(), [&](const ResolvedEvent* event) {
      return !in_one_range(*first, event);
    });
    const std::span<const ResolvedEvent* const> own(first, last);
    // If an account has more than twice as many rows in this range as events, the look-up ends at
    // its limit, and all events of the account are merged.
    ranges.push_back({{own.front()->actor_id, own.front()->collection_id, own.front()->rkey_number},
                      own.back()->rkey_number,
                      2 * own.size()});
    events_of.push_back(own);
    first = last;
  }

  const std::vector<std::vector<FoundKey>> stored = table.read_keys(session, ranges);
  std::vector<KeyState> states(events.size(), KeyState::Free);
  for (std::size_t range = 0; range < ranges.size(); ++range) {
    const auto own = events_of[range];
    const auto start = states.begin() + (own.data() - events.data());
    if (stored[range].size() == ranges[range].limit) {
      std::fill_n(start, own.size(), KeyState::Taken);
      continue;
    }
    for (const FoundKey& found : stored[range]) {
      const auto event = std::lower_bound(
          own.begin(), own.end(), found.rkey,
          [](const ResolvedEvent* one, std::int64_t rkey) { return one->rkey_number < rkey; });
      if ((*event)->rkey_number != found.rkey) continue;
      const bool gives_way =
          found.is_stub && (*event)->change().rev.value > 0 &&
          (!found.first_cid || *found.first_cid == (*event)->change().cid->digest);
      start[event - own.begin()] = gives_way ? KeyState::Stub : KeyState::Taken;
    }
  }
  return states;
}

/// Writes rows of one table. `events` are sorted by key.
void write_table(postgres::Session& session, const TableWriter& table, const EventPointers& events,
                 const WriteOptions& options, Effects& effects) {
  if (events.size() < kWorthCopying) {
    table.upsert(session, events, options.now, effects);
    return;
  }
  if (options.method == WriteMethod::Merge) {
    table.merge(session, events, options.settled, options.now, effects);
    return;
  }
  const std::vector<KeyState> states = find_key_states(session, table, events);
  EventPointers copied;
  EventPointers over_stubs;
  EventPointers merged;
  copied.reserve(events.size());
  for (std::size_t i = 0; i < events.size(); ++i) {
    (states[i] == KeyState::Taken ? merged : copied).push_back(events[i]);
    if (states[i] == KeyState::Stub) over_stubs.push_back(events[i]);
  }
  if (!over_stubs.empty()) table.drop_stubs(session, over_stubs);
  if (!copied.empty()) table.copy(session, copied, options.now, effects);
  if (!merged.empty()) table.merge(session, merged, options.settled, options.now, effects);
}

/// Writes the changes that passed the guard. They are sorted by collection and key.
void write_changes(postgres::Session& session, const std::vector<GuardedChange>& news,
                   const WriteOptions& options, Effects& effects) {
  EventPointers untyped;
  for (auto first = news.begin(); first != news.end();) {
    const std::int32_t collection_id = first->event->collection_id;
    const auto last = std::find_if(first, news.end(), [&](const GuardedChange& change) {
      return change.event->collection_id != collection_id;
    });
    const TableWriter* table = table_of(collection_id);
    EventPointers plain;
    // Records that move between their own table and `bsky.records`. There are few of them.
    std::vector<GuardedChange> moving;
    plain.reserve(static_cast<std::size_t>(last - first));
    for (; first != last; ++first) {
      if (table == nullptr) {
        untyped.push_back(first->event);
      } else if (first->has_records_row ||
                 std::holds_alternative<std::monostate>(first->event->record().record)) {
        moving.push_back(*first);
      } else {
        plain.push_back(first->event);
      }
    }
    if (!plain.empty()) write_table(session, *table, plain, options, effects);
    if (!moving.empty()) write_collection(session, collection_id, moving, options.now, effects);
  }
  if (!untyped.empty()) {
    std::sort(untyped.begin(), untyped.end(), [](const auto* a, const auto* b) {
      return std::tie(a->actor_id, a->collection_id, a->rkey_number) <
             std::tie(b->actor_id, b->collection_id, b->rkey_number);
    });
    write_table(session, records_table(), untyped, options, effects);
  }
}

BulkWriter::Outcome write_once(postgres::Session& session, const SourceNames& sources,
                               BulkWriter::Events given,
                               std::span<const std::int64_t> lease_numbers, WriteMethod method,
                               Timestamp now) {
  BulkWriter::Outcome outcome;
  // Each attempt has its own effects, because a failed attempt must not report any.
  Effects effects;
  postgres::Transaction transaction(session);
  lock_accounts(session, given);
  const EventPointers events =
      lease_numbers.empty() ? EventPointers(given.begin(), given.end())
                            : events_of_our_jobs(session, given, lease_numbers, outcome.lost);

  EventPointers changes;
  changes.reserve(events.size());
  std::vector<tables::DeadLetter> letters;
  for (const ResolvedEvent* event : events) {
    if (const auto* rejection = std::get_if<event::Rejection>(&event->event.body)) {
      letters.push_back(dead_letter_of(sources.of(*event), *event, rejection->error, ""));
    } else {
      changes.push_back(event);
    }
  }
  const std::size_t asked = changes.size();
  if (!changes.empty()) {
    std::sort(changes.begin(), changes.end(), [](const auto* a, const auto* b) {
      return std::tie(a->collection_id, a->actor_id, a->rkey_number) <
             std::tie(b->collection_id, b->actor_id, b->rkey_number);
    });
    const BulkGuard guard(session, actors_of(changes));
    const WriteOptions options{method, guard.settled(changes), now};
    const std::vector<GuardedChange> news = guard.news(changes);
    outcome.held_back = asked - news.size();
    write_changes(session, news, options, effects);
  }
  if (!letters.empty()) {
    tables::write_dead_letters(session, letters, now);
    outcome.dead_letters = letters.size();
  }
  outcome.rows = effects.finish(session);
  outcome.first_versions = effects.take_first_versions();
  outcome.unchanged = asked - std::min(asked, outcome.rows);
  crash_point("before_bulk_commit");
  transaction.commit();
  crash_point("after_bulk_commit");
  return outcome;
}

}  // namespace

BulkGuard::BulkGuard(postgres::Session& session, std::span<const AccountNumber> actors) {
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

BulkWriter::Outcome BulkWriter::write(postgres::Session& session, Events events, Timestamp now,
                                      std::span<const std::int64_t> lease_numbers) const {
  try {
    return write_once(session, sources_, events, lease_numbers, WriteMethod::Copy, now);
  } catch (const postgres::DataError& error) {
    if (error.sqlstate() != postgres::kUniqueViolation) throw;
    // Live events have inserted rows of these keys after the look-up, so all events are merged.
    return write_once(session, sources_, events, lease_numbers, WriteMethod::Merge, now);
  }
}

}  // namespace skua::writer
