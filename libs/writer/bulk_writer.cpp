#include "writer/bulk_writer.hpp"

#include <algorithm>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "base/crash_point.hpp"
#include "resolve/worth_copying.hpp"
#include "store/advisory_lock.hpp"
#include "store/dead_letters.hpp"
#include "store/sqlstate.hpp"
#include "writer/bulk_guard.hpp"
#include "writer/collection_writer.hpp"
#include "writer/dead_letter.hpp"
#include "writer/table_writer.hpp"

namespace skua::writer {
namespace {

using event::ResolvedEvent;
using EventPointers = std::vector<const ResolvedEvent*>;
using resolve::kWorthCopying;

template <class T>
void sort_unique(std::vector<T>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

void lock_accounts(store::Session& session, BulkWriter::Events events) {
  std::vector<std::int64_t> keys;
  std::string_view last;
  for (const ResolvedEvent* event : events) {
    if (event->event.did == last) continue;
    last = event->event.did;
    keys.push_back(store::lock_key(static_cast<std::uint8_t>(event->event.type), last));
  }
  store::lock_xact(session, std::move(keys));
}

std::vector<std::int32_t> actors_of(const EventPointers& changes) {
  std::vector<std::int32_t> actors;
  for (const ResolvedEvent* change : changes) {
    if (actors.empty() || actors.back() != change->actor_id) actors.push_back(change->actor_id);
  }
  sort_unique(actors);
  return actors;
}

/// Whether an account's first rows are new as a whole: in `posts` stubs may appear at any time, and
/// `records` holds many collections.
bool is_new_by_account(const TableWriter& table) {
  return table.collection_id() != 0 && table.collection_id() != records::Post::kCollectionId;
}

/// Notes which of the accounts have no rows in the table yet.
void find_empty(store::Session& session, const TableWriter& table,
                const std::vector<std::int32_t>& actors, EmptyTables& empty) {
  std::vector<std::int32_t> unknown;
  for (const std::int32_t actor : actors) {
    if (!empty.contains(actor, table.collection_id())) unknown.push_back(actor);
  }
  if (unknown.empty()) return;
  const std::vector<std::int32_t> with_rows = table.actors_with_rows(session, unknown);
  for (const std::int32_t actor : unknown) {
    if (!std::binary_search(with_rows.begin(), with_rows.end(), actor)) {
      empty.insert(actor, table.collection_id());
    }
  }
}

enum class Way : std::uint8_t { Copy, Merge };

/// How rows are written.
struct Manner {
  Way way = Way::Copy;
  /// See TableWriter::merge.
  std::vector<std::int32_t> settled;
  Timestamp now;
};

/// Which of the events, sorted by key, are certain to have no row yet, unless one comes this
/// moment.
std::vector<bool> find_new(store::Session& session, const TableWriter& table,
                           const EventPointers& events, EmptyTables& empty) {
  std::vector<bool> is_new(events.size());
  if (is_new_by_account(table)) {
    find_empty(session, table, actors_of(events), empty);
    for (std::size_t i = 0; i < events.size(); ++i) {
      is_new[i] = empty.contains(events[i]->actor_id, table.collection_id());
    }
    return is_new;
  }
  std::vector<RowKey> keys;
  keys.reserve(events.size());
  for (const ResolvedEvent* event : events) {
    keys.push_back({event->actor_id, event->collection_id, event->rkey_number});
  }
  const std::vector<std::int64_t> revs = table.read_revs(session, keys);
  for (std::size_t i = 0; i < events.size(); ++i) is_new[i] = revs[i] == TableWriter::kNoRow;
  return is_new;
}

/// Writes rows of one table; `events` are sorted by key. Returns how many changed.
std::size_t write_table(store::Session& session, const TableWriter& table,
                        const EventPointers& events, EmptyTables& empty, const Manner& manner) {
  if (events.size() < kWorthCopying) return table.upsert(session, events, manner.now);
  if (manner.way == Way::Merge) return table.merge(session, events, manner.settled, manner.now);
  const std::vector<bool> is_new = find_new(session, table, events, empty);
  EventPointers copied;
  EventPointers merged;
  copied.reserve(events.size());
  for (std::size_t i = 0; i < events.size(); ++i) {
    (is_new[i] ? copied : merged).push_back(events[i]);
  }
  std::size_t rows = copied.size();
  if (!copied.empty()) table.copy(session, copied, manner.now);
  if (!merged.empty()) rows += table.merge(session, merged, manner.settled, manner.now);
  return rows;
}

/// Writes what passed the guard, sorted by collection and key.
std::size_t write_changes(store::Session& session, const std::vector<GuardedChange>& news,
                          EmptyTables& empty, const Manner& manner) {
  std::size_t rows = 0;
  EventPointers untyped;
  for (auto first = news.begin(); first != news.end();) {
    const std::int32_t collection_id = first->event->collection_id;
    const auto last = std::find_if(first, news.end(), [&](const GuardedChange& change) {
      return change.event->collection_id != collection_id;
    });
    const TableWriter* table = table_of(collection_id);
    EventPointers plain;
    // What moves between its own table and `bsky.records`: few.
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
    if (!plain.empty()) rows += write_table(session, *table, plain, empty, manner);
    if (!moving.empty()) rows += write_collection(session, collection_id, moving, manner.now);
  }
  if (!untyped.empty()) {
    std::sort(untyped.begin(), untyped.end(), [](const auto* a, const auto* b) {
      return std::tie(a->actor_id, a->collection_id, a->rkey_number) <
             std::tie(b->actor_id, b->collection_id, b->rkey_number);
    });
    rows += write_table(session, records_table(), untyped, empty, manner);
  }
  return rows;
}

BulkWriter::Outcome write_once(store::Session& session, const SourceNames& sources,
                               BulkWriter::Events events, EmptyTables& empty, Way way,
                               Timestamp now) {
  BulkWriter::Outcome outcome;
  store::Transaction transaction(session);
  lock_accounts(session, events);

  EventPointers changes;
  changes.reserve(events.size());
  std::vector<store::DeadLetter> letters;
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
    const Manner manner{way, guard.settled(changes), now};
    outcome.rows = write_changes(session, guard.news(changes), empty, manner);
    outcome.unchanged = asked - std::min(asked, outcome.rows);
  }
  if (!letters.empty()) {
    store::write_dead_letters(session, letters, now);
    outcome.dead_letters = letters.size();
  }
  crash_point("before_bulk_commit");
  transaction.commit();
  crash_point("after_bulk_commit");
  return outcome;
}

}  // namespace

BulkWriter::Outcome BulkWriter::write(store::Session& session, Events events, EmptyTables& empty,
                                      Timestamp now) const {
  try {
    return write_once(session, sources_, events, empty, Way::Copy, now);
  } catch (const store::DataError& error) {
    if (error.sqlstate() != store::kUniqueViolation) throw;
    // Live rows came after the account was seen to have none.
    empty.clear();
    return write_once(session, sources_, events, empty, Way::Merge, now);
  }
}

void BulkWriter::write_dead_letter(store::Session& session, const ResolvedEvent& event,
                                   const std::string& error, const std::string& sqlstate,
                                   Timestamp now) const {
  store::write_dead_letters(session, {dead_letter_of(sources_.of(event), event, error, sqlstate)},
                            now);
}

}  // namespace skua::writer
