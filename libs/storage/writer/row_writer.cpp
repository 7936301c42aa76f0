#include "writer/row_writer.hpp"

#include <algorithm>
#include <tuple>
#include <variant>

#include <boost/unordered/unordered_flat_map.hpp>

#include "base/crash_point.hpp"
#include "postgres/locks.hpp"
#include "writer/account_changes.hpp"
#include "writer/account_locks.hpp"
#include "writer/collection_writer.hpp"
#include "writer/dead_letter.hpp"
#include "writer/effects.hpp"
#include "writer/row_writer.sql.hpp"
#include "writer/tables/labels.hpp"

namespace skua::writer {

namespace {

/// A known revision for a change: the revision of a tombstone or of a row in bsky.records, or the
/// minimum revision of the account. Places count from 1.
struct KnownRevision {
  std::int64_t place;
  atproto::Tid rev;
  bool is_record;
};

using event::ResolvedEvent;
using postgres::Lock;

/// Whether the event is the deletion of an account, which concerns its records of every type.
bool is_account_wide(const ResolvedEvent& event) {
  const auto* change = std::get_if<event::AccountChange>(&event.event.body);
  return change != nullptr && change->purge;
}

struct LockedAccounts {
  /// Whether each event of the batch may be written.
  std::vector<bool> writable;
  /// The locks that other sessions hold.
  std::vector<Lock> busy;
};

/// Takes the locks of the batch's accounts, in the order of their keys. Of a backfill batch, all
/// events may then be written; of a live batch, the events of accounts whose locks no other session
/// holds.
LockedAccounts lock_batch(postgres::Session& session, RowWriter::Batch batch) {
  std::vector<Lock> own;
  own.reserve(batch.size());
  for (const ResolvedEvent* event : batch) {
    own.push_back(postgres::account_lock(session, static_cast<std::uint8_t>(event->event.type),
                                         event->event.did));
  }
  std::vector<Lock> locks = own;
  for (const ResolvedEvent* event : batch) {
    if (!is_account_wide(*event)) continue;
    const std::vector<Lock> all = locks_of_account(session, event->event.did);
    locks.insert(locks.end(), all.begin(), all.end());
  }
  if (batch.front()->event.source == event::EventSource::Backfill) {
    postgres::lock_xact(session, std::move(locks));
    return {std::vector<bool>(batch.size(), true), {}};
  }
  postgres::sort_locks(locks);
  std::vector<bool> taken = postgres::try_lock_xact(session, locks);
  LockedAccounts outcome;
  for (std::size_t i = 0; i < locks.size(); ++i) {
    if (!taken[i]) outcome.busy.push_back(locks[i]);
  }
  const auto place_of = [&](const Lock& lock) {
    return static_cast<std::size_t>(
        std::lower_bound(locks.begin(), locks.end(), lock,
                         [](const Lock& one, const Lock& other) { return one.key < other.key; }) -
        locks.begin());
  };
  // If one of an account's locks is missing, all events of the account wait.
  for (std::size_t i = 0; i < batch.size(); ++i) {
    if (!is_account_wide(*batch[i])) continue;
    for (const Lock& lock : locks_of_account(session, batch[i]->event.did)) {
      if (!taken[place_of(lock)]) taken[place_of(own[i])] = false;
    }
  }
  outcome.writable.resize(batch.size());
  for (std::size_t i = 0; i < batch.size(); ++i) outcome.writable[i] = taken[place_of(own[i])];
  return outcome;
}

}  // namespace

Folded fold_batch(std::span<const event::ResolvedEvent* const> batch) {
  using Newest = boost::unordered_flat_map<RecordKey, std::size_t>;
  Newest newest;
  Newest newest_deletes;
  newest.reserve(batch.size());
  const auto take = [&](Newest& map, const RecordKey& key, std::size_t i) {
    const auto [place, inserted] = map.try_emplace(key, i);
    if (!inserted && batch[i]->change().rev >= batch[place->second]->change().rev) {
      place->second = i;
    }
  };
  const auto key_at = [&](std::size_t i) { return key_of(*batch[i]); };
  const auto is_change = [&](std::size_t i) {
    return std::holds_alternative<event::RecordChange>(batch[i]->event.body);
  };
  const auto is_delete = [&](std::size_t i) {
    return batch[i]->change().operation == event::Operation::Delete;
  };
  for (std::size_t i = 0; i < batch.size(); ++i) {
    if (!is_change(i)) continue;
    take(newest, key_at(i), i);
    if (is_delete(i)) take(newest_deletes, key_at(i), i);
  }

  Folded folded;
  folded.survivors.reserve(batch.size());
  for (std::size_t i = 0; i < batch.size(); ++i) {
    if (!is_change(i)) {
      folded.survivors.push_back(i);
      continue;
    }
    const std::size_t survivor = newest.at(key_at(i));
    if (survivor == i) {
      folded.survivors.push_back(i);
    } else if (is_delete(i) && !is_delete(survivor) && newest_deletes.at(key_at(i)) == i) {
      folded.overtaken_deletes.push_back(i);
    }
  }
  return folded;
}

std::vector<GuardedChange> drop_known(postgres::Session& session,
                                      std::span<const event::ResolvedEvent* const> changes) {
  using event::ResolvedEvent;
  using postgres::column;
  std::vector<bool> dropped(changes.size());
  std::vector<bool> has_records_row(changes.size());
  for (const KnownRevision& known :
       session.query<KnownRevision>(sql::guard_known, column(changes, &ResolvedEvent::actor_id),
                                    column(changes, &ResolvedEvent::collection_id),
                                    column(changes, &ResolvedEvent::rkey_number))) {
    const auto place = static_cast<std::size_t>(known.place - 1);
    if (changes[place]->change().rev <= known.rev) dropped[place] = true;
    if (known.is_record) has_records_row[place] = true;
  }
  std::vector<GuardedChange> news;
  news.reserve(changes.size());
  for (std::size_t i = 0; i < changes.size(); ++i) {
    if (!dropped[i]) news.push_back({changes[i], has_records_row[i]});
  }
  return news;
}

RowWriter::Outcome RowWriter::write(postgres::Session& session, Batch batch, Timestamp now) const {
  Outcome outcome;
  Effects effects;
  postgres::Transaction transaction(session);
  const LockedAccounts locked = lock_batch(session, batch);
  const std::vector<bool>& writable = locked.writable;

  std::vector<const ResolvedEvent*> changes;
  std::vector<const ResolvedEvent*> others;
  std::size_t record_changes = 0;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    if (!writable[i]) {
      outcome.busy.push_back(i);
    } else if (std::holds_alternative<event::RecordChange>(batch[i]->event.body)) {
      ++record_changes;
    } else {
      others.push_back(batch[i]);
    }
  }
  // All events of a record share an account, so either all or none of them are writable. Folding
  // the whole batch therefore leaves the same events of the writable part as folding that part
  // alone.
  const Folded folded = fold_batch(batch);
  const auto is_writable_change = [&](std::size_t i) {
    return writable[i] && std::holds_alternative<event::RecordChange>(batch[i]->event.body);
  };
  for (const std::size_t i : folded.survivors) {
    if (is_writable_change(i)) changes.push_back(batch[i]);
  }
  std::vector<const ResolvedEvent*> deletes;
  for (const std::size_t i : folded.overtaken_deletes) {
    if (is_writable_change(i)) deletes.push_back(batch[i]);
  }
  if (!deletes.empty()) {
    const std::vector<GuardedChange> news = drop_known(session, deletes);
    deletes.clear();
    for (const GuardedChange& change : news) deletes.push_back(change.event);
  }

  if (!changes.empty()) {
    std::sort(changes.begin(), changes.end(), [](const auto* a, const auto* b) {
      return std::tie(a->collection_id, a->actor_id, a->rkey_number) <
             std::tie(b->collection_id, b->actor_id, b->rkey_number);
    });
    const std::vector<GuardedChange> news = drop_known(session, changes);
    for (auto first = news.begin(); first != news.end();) {
      const std::int32_t collection_id = first->event->collection_id;
      const auto last = std::find_if(first, news.end(), [&](const GuardedChange& change) {
        return change.event->collection_id != collection_id;
      });
      write_collection(session, collection_id, {first, last}, now, effects);
      first = last;
    }
    for (const GuardedChange& change : news) {
      if (change.event->change().operation == event::Operation::Delete) {
        deletes.push_back(change.event);
      }
    }
  }
  if (!deletes.empty()) {
    std::sort(deletes.begin(), deletes.end(), [](const auto* a, const auto* b) {
      return std::tie(a->actor_id, a->collection_id, a->rkey_number) <
             std::tie(b->actor_id, b->collection_id, b->rkey_number);
    });
    write_tombstones(session, deletes, sources_);
  }

  outcome.unchanged = record_changes - std::min(record_changes, effects.size());
  if (!others.empty()) {
    outcome.purges = write_account_changes(session, others, now, effects);
    outcome.unchanged += write_labels(session, others, now, effects);
    std::vector<tables::DeadLetter> letters;
    for (const ResolvedEvent* event : others) {
      if (const auto* rejection = std::get_if<event::Rejection>(&event->event.body)) {
        letters.push_back(dead_letter_of(sources_.of(*event), *event, rejection->error, ""));
      }
    }
    if (!letters.empty()) {
      tables::write_dead_letters(session, letters, now);
      outcome.dead_letters = letters.size();
    }
  }
  outcome.rows = effects.finish(session);
  outcome.first_versions = effects.take_first_versions();
  crash_point("before_commit");
  transaction.commit();
  crash_point("after_commit");
  if (!locked.busy.empty()) postgres::note_busy(session, locked.busy);
  return outcome;
}

}  // namespace skua::writer
