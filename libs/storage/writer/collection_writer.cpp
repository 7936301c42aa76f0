#include "writer/collection_writer.hpp"

#include <vector>

#include "writer/table_writer.hpp"

namespace skua::writer {
namespace {

using EventPointers = std::vector<const event::ResolvedEvent*>;

/// Returns the invalid records that are newer than the row of their key in the typed table. Valid
/// records need no such check, because the upsert compares their revisions.
EventPointers newer_than_rows(postgres::Session& session, const TableWriter& table,
                              const EventPointers& invalid) {
  std::vector<RecordKey> keys;
  keys.reserve(invalid.size());
  for (const auto* change : invalid) {
    keys.push_back({change->actor_id, change->collection_id, change->rkey_number});
  }
  const std::vector<std::int64_t> revs = table.read_revs(session, keys);
  EventPointers newer;
  for (std::size_t i = 0; i < invalid.size(); ++i) {
    if (static_cast<std::int64_t>(invalid[i]->change().rev.value) > revs[i]) {
      newer.push_back(invalid[i]);
    }
  }
  return newer;
}

}  // namespace

std::size_t write_collection(postgres::Session& session, std::int32_t collection_id,
                             std::span<const GuardedChange> changes, Timestamp now,
                             Effects& effects) {
  const TableWriter& records = records_table();
  const TableWriter* typed = table_of(collection_id);

  EventPointers valid;
  EventPointers generic;  // records for bsky.records: invalid, or without a typed table
  EventPointers deleted;
  EventPointers leave_records;  // records whose old row in bsky.records is removed
  for (const GuardedChange& guarded : changes) {
    const event::RecordChange& change = guarded.event->change();
    const bool is_delete = change.operation == event::Operation::Delete;
    const bool is_typed =
        typed != nullptr && !std::holds_alternative<std::monostate>(change.record.record);
    if (is_delete) {
      deleted.push_back(guarded.event);
    } else if (is_typed) {
      valid.push_back(guarded.event);
    } else {
      generic.push_back(guarded.event);
    }
    if (guarded.has_records_row && (is_delete || is_typed)) leave_records.push_back(guarded.event);
  }

  std::size_t rows = 0;
  if (typed != nullptr && !generic.empty()) {
    generic = newer_than_rows(session, *typed, generic);
    if (!generic.empty()) rows += typed->remove(session, generic, now, effects);
  }
  if (!generic.empty()) rows += records.upsert(session, generic, now, effects);
  if (!valid.empty()) rows += typed->upsert(session, valid, now, effects);
  if (typed != nullptr && !deleted.empty()) rows += typed->remove(session, deleted, now, effects);
  if (!leave_records.empty()) rows += records.remove(session, leave_records, now, effects);
  return rows;
}

}  // namespace skua::writer
