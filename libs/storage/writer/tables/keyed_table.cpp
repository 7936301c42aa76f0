#include "writer/tables/keyed_table.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "atproto/sha256.hpp"
#include "atproto/tid.hpp"
#include "base/account_number.hpp"

namespace skua::writer {

namespace {

using postgres::Array;

const std::vector<BatchColumn> kOneCollection = {{"actor_id", Array::Type::int8, ""},
                                                 {"rkey", Array::Type::int8, ""}};
const std::vector<BatchColumn> kManyCollections = {{"actor_id", Array::Type::int8, ""},
                                                   {"collection_id", Array::Type::int4, ""},
                                                   {"rkey", Array::Type::int8, ""}};

/// Returns the index of the event of a key. The events are sorted by key.
std::size_t place_of(TableWriter::Events events, const RecordKey& key) {
  const auto place =
      std::lower_bound(events.begin(), events.end(), key,
                       [](const event::ResolvedEvent* event, const RecordKey& other) {
                         return key_of(*event) < other;
                       });
  return static_cast<std::size_t>(place - events.begin());
}

using postgres::column;

/// A key that a range contains. `place` is the index of the range.
struct KeyInRange {
  std::int64_t place;
  std::int64_t rkey;
  bool is_stub;
  std::optional<atproto::Digest> first_cid;
};

struct RevisionAt {
  std::int64_t place;
  std::int64_t rev;
};

}  // namespace

KeyedTable::KeyedTable(const std::string& table, Key key, std::span<const BatchColumn> columns,
                       std::span<const ReferenceColumns> references, const std::string& stub_marker)
    : key_(key),
      references_(references.begin(), references.end()),
      statements_(table, key == Key::OneCollection ? kOneCollection : kManyCollections, columns,
                  references) {
  if (!stub_marker.empty()) statements_.keep_stubs(stub_marker);
}

void KeyedTable::append_keys(postgres::Params& params, std::span<const RecordKey> keys) const {
  params.array(postgres::column(keys, &RecordKey::actor_id));
  if (key_ == Key::ManyCollections) params.array(postgres::column(keys, &RecordKey::collection_id));
  params.array(postgres::column(keys, &RecordKey::rkey));
}

void KeyedTable::append_keys(postgres::Params& params, Events events) const {
  std::vector<RecordKey> keys;
  keys.reserve(events.size());
  for (const event::ResolvedEvent* event : events) {
    keys.push_back({event->actor_id, event->collection_id, event->rkey_number});
  }
  append_keys(params, keys);
}

void KeyedTable::append_key(postgres::CopyRows& rows, const event::ResolvedEvent& event) const {
  rows.int8(event.actor_id);
  if (key_ == Key::ManyCollections) rows.int4(event.collection_id);
  rows.int8(event.rkey_number);
}

void KeyedTable::copy_into(postgres::Session& session, const std::string& table, Events events,
                           Timestamp indexed_at) const {
  postgres::CopyRows rows(statements_.copied_size());
  fill(rows, events, indexed_at);
  session.copy(table, statements_.copied(), rows);
}

postgres::Params KeyedTable::row_params(Events events, Timestamp indexed_at) const {
  postgres::Params params;
  append_keys(params, events);
  append_columns(params, events);
  params.timestamp(indexed_at);
  return params;
}

RecordKey KeyedTable::key_in(const postgres::Rows& rows, std::size_t row) const {
  if (key_ == Key::OneCollection) return {rows.int8(row, 0), collection_id(), rows.int8(row, 1)};
  return {rows.int8(row, 0), rows.int4(row, 1), rows.int8(row, 2)};
}

KeyedTable::OldContent KeyedTable::old_content(const postgres::Rows& rows, std::size_t row,
                                               std::size_t column) const {
  OldContent old;
  old.had_content = rows.boolean(row, column);
  old.same_cid = !rows.is_null(row, column + 1) && rows.boolean(row, column + 1);
  column += 2;
  for (const ReferenceColumns& reference : references_) {
    if (!rows.is_null(row, column)) {
      old.references.push_back(
          {reference.role,
           reference.counts_once,
           {rows.int8(row, column), rows.int4(row, column + 1), rows.int8(row, column + 2)}});
    }
    column += 3;
  }
  return old;
}

void KeyedTable::replaced(const event::ResolvedEvent& event, const OldContent& old,
                          Effects& effects) const {
  if (!old.had_content) {
    effects.created(event, references_of(event));
  } else if (!old.same_cid) {
    effects.updated(event, old.references, references_of(event));
  }
}

std::size_t KeyedTable::upsert(postgres::Session& session, Events events, Timestamp indexed_at,
                               Effects& effects) const {
  // The insert comes first, because most records are new and then need only one statement.
  const postgres::Rows inserted =
      session.execute(statements_.insert(), row_params(events, indexed_at));
  std::vector<bool> is_new(events.size(), inserted.size() == events.size());
  if (inserted.size() < events.size()) {
    for (std::size_t i = 0; i < inserted.size(); ++i) {
      is_new.at(place_of(events, key_in(inserted, i))) = true;
    }
  }
  std::vector<const event::ResolvedEvent*> others;
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (is_new[i]) {
      effects.created(*events[i], references_of(*events[i]));
      if (statements_.keeps_stubs()) effects.first_version(*events[i]);
    } else {
      others.push_back(events[i]);
    }
  }
  if (others.empty()) return inserted.size();
  const postgres::Rows updated =
      session.execute(statements_.update(), row_params(others, indexed_at));
  for (std::size_t i = 0; i < updated.size(); ++i) {
    replaced(*others.at(static_cast<std::size_t>(updated.int8(i, 0))), old_content(updated, i, 1),
             effects);
  }
  return inserted.size() + updated.size();
}

void KeyedTable::copy(postgres::Session& session, Events events, Timestamp indexed_at,
                      Effects& effects) const {
  copy_into(session, statements_.table(), events, indexed_at);
  for (const event::ResolvedEvent* event : events) {
    effects.created(*event, references_of(*event));
    if (statements_.keeps_stubs()) effects.first_version(*event);
  }
}

std::size_t KeyedTable::merge(postgres::Session& session, Events events,
                              std::span<const AccountNumber> settled, Timestamp indexed_at,
                              Effects& effects) const {
  session.execute(statements_.make_stage());
  copy_into(session, statements_.stage(), events, indexed_at);
  const postgres::Rows written = session.execute(statements_.merge(), settled);
  for (std::size_t i = 0; i < written.size(); ++i) {
    replaced(*events[place_of(events, key_in(written, i))], old_content(written, i, key_size()),
             effects);
  }
  return written.size();
}

void KeyedTable::drop_stubs(postgres::Session& session, Events events) const {
  postgres::Params params;
  append_keys(params, events);
  session.execute(statements_.drop_stubs(), params);
}

std::size_t KeyedTable::remove(postgres::Session& session, Events events, Timestamp indexed_at,
                               Effects& effects) const {
  const auto params_of = [&](Events of) {
    postgres::Params params;
    append_keys(params, of);
    params.array(postgres::column(
        of, [](const event::ResolvedEvent* event) { return event->change().rev; }));
    params.array(postgres::column(of, [](const event::ResolvedEvent* event) {
      return event->change().operation == event::Operation::Delete;
    }));
    return params;
  };
  const postgres::Rows removed = session.execute(statements_.remove(), params_of(events));
  std::vector<bool> is_removed(events.size());
  for (std::size_t i = 0; i < removed.size(); ++i) {
    const auto place = static_cast<std::size_t>(removed.int8(i, 0));
    is_removed.at(place) = true;
    const event::ResolvedEvent& event = *events[place];
    const OldContent old = old_content(removed, i, 1);
    if (!old.had_content) continue;
    effects.removed(key_of(event), static_cast<std::int64_t>(event.change().rev.value),
                    old.references);
  }
  if (!statements_.keeps_stubs() || removed.size() == events.size()) return removed.size();
  std::vector<const event::ResolvedEvent*> others;
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (!is_removed[i]) others.push_back(events[i]);
  }
  postgres::Params params = params_of(others);
  params.timestamp(indexed_at);
  return removed.size() + session.execute(statements_.insert_stubs(), params).affected();
}

std::size_t KeyedTable::purge(postgres::Session& session, AccountNumber actor_id, std::int64_t rev,
                              std::size_t limit, Effects& effects) const {
  const postgres::Rows removed = session.execute(statements_.purge(), actor_id, rev, limit);
  for (std::size_t i = 0; i < removed.size(); ++i) {
    effects.removed(key_in(removed, i), rev, old_content(removed, i, key_size()).references);
  }
  return removed.size();
}

std::size_t KeyedTable::discard(postgres::Session& session, std::span<const RecordKey> keys,
                                std::optional<Timestamp> before, Effects& effects) const {
  postgres::Params params;
  append_keys(params, keys);
  params.add(before);
  const postgres::Rows removed = session.execute(statements_.discard(), params);
  std::size_t count = 0;
  for (std::size_t i = 0; i < removed.size(); ++i) {
    const OldContent old = old_content(removed, i, key_size() + 1);
    if (!old.had_content) continue;
    ++count;
    effects.removed(key_in(removed, i), removed.int8(i, key_size()), old.references);
  }
  return count;
}

std::vector<std::vector<FoundKey>> KeyedTable::read_keys(postgres::Session& session,
                                                         std::span<const KeyRange> ranges) const {
  std::vector<RecordKey> firsts;
  for (const KeyRange& range : ranges) firsts.push_back(range.first);
  postgres::Params params;
  append_keys(params, firsts);
  params.array(column(ranges, &KeyRange::last));
  params.array(
      column(ranges, [](const KeyRange& range) { return static_cast<std::int64_t>(range.limit); }));
  std::vector<std::vector<FoundKey>> keys(ranges.size());
  for (const auto& [place, rkey, is_stub, first_cid] :
       session.query<KeyInRange>(statements_.read_keys(), params)) {
    keys.at(static_cast<std::size_t>(place)).push_back({rkey, is_stub, first_cid});
  }
  return keys;
}

std::vector<AccountNumber> KeyedTable::actors_with_rows_before(
    postgres::Session& session, std::span<const AccountNumber> actors,
    std::span<const std::int64_t> revs) const {
  return session.query<AccountNumber>(statements_.actors_with_rows_before(), actors, revs);
}

std::vector<StoredRow> KeyedTable::rows_before(postgres::Session& session, AccountNumber actor_id,
                                               std::int64_t rev,
                                               const std::optional<RecordKey>& after,
                                               std::size_t limit) const {
  const RecordKey last =
      after.value_or(RecordKey{actor_id, std::numeric_limits<std::int32_t>::min(),
                               std::numeric_limits<std::int64_t>::min()});
  const postgres::Rows rows =
      session.execute(statements_.rows_before(), actor_id, rev, limit, last.rkey,
                      key_ == Key::ManyCollections ? last.collection_id : collection_id());
  std::vector<StoredRow> found;
  found.reserve(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    StoredRow& row = found.emplace_back();
    row.key = {actor_id, collection_id(), rows.int8(i, 0)};
    row.path = collection();
    if (key_ == Key::ManyCollections) {
      row.key.collection_id = rows.int4(i, 2);
      row.path = rows.text(i, 3);
    }
    row.path += '/';
    // The text of a TID is computed here, because the function of the server takes longer than the
    // rest of the row.
    if (row.key.rkey >= 0) {
      row.path += atproto::Tid{static_cast<std::uint64_t>(row.key.rkey)}.to_string();
    } else {
      row.path += rows.text(i, 1);
    }
  }
  return found;
}

std::vector<std::int64_t> KeyedTable::read_revs(postgres::Session& session,
                                                std::span<const RecordKey> keys) const {
  postgres::Params params;
  append_keys(params, keys);
  std::vector<std::int64_t> revs(keys.size(), kNoRow);
  for (const auto& [place, rev] : session.query<RevisionAt>(statements_.read_revs(), params)) {
    revs.at(static_cast<std::size_t>(place)) = rev;
  }
  return revs;
}

std::vector<ExpiredRow> KeyedTable::expired_rows(postgres::Session& session,
                                                 const ExpiredQuestion& question) const {
  postgres::Params params;
  params.timestamp(question.before).int8(static_cast<std::int64_t>(question.limit));
  if (key_ == Key::ManyCollections) {
    params.int4(question.collection_id);
  } else {
    params.text(fmt::format("({},0)", question.first_block));
    params.text(fmt::format("({},0)", question.end_block));
  }
  const postgres::Rows rows = session.execute(statements_.expired(), params);
  std::vector<ExpiredRow> found;
  found.reserve(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    found.push_back({key_in(rows, i), std::string(rows.text(i, key_size()))});
  }
  return found;
}

}  // namespace skua::writer
