#include "writer/tables/keyed_table.hpp"

#include <limits>

#include "atproto/tid.hpp"

namespace skua::writer {
namespace {

using store::Array;

const std::vector<BatchColumn> kOneCollection = {{"actor_id", Array::Type::int4, ""},
                                                 {"rkey", Array::Type::int8, ""}};
const std::vector<BatchColumn> kManyCollections = {{"actor_id", Array::Type::int4, ""},
                                                   {"collection_id", Array::Type::int4, ""},
                                                   {"rkey", Array::Type::int8, ""}};

Array int4_array(std::span<const std::int32_t> values) {
  Array array(Array::Type::int4);
  for (const std::int32_t value : values) array.int4(value);
  return array;
}

/// The first column.
std::vector<std::int32_t> ids_in(const store::Rows& rows) {
  std::vector<std::int32_t> ids;
  ids.reserve(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) ids.push_back(rows.int4(i, 0));
  return ids;
}

}  // namespace

KeyedTable::KeyedTable(const std::string& table, Key key, std::span<const BatchColumn> columns,
                       const std::string& stub_marker)
    : key_(key),
      statements_(table, key == Key::OneCollection ? kOneCollection : kManyCollections, columns) {
  if (!stub_marker.empty()) statements_.keep_stubs(stub_marker);
}

void KeyedTable::append_keys(store::Params& params, std::span<const RowKey> keys) const {
  Array actors(Array::Type::int4);
  Array collections(Array::Type::int4);
  Array rkeys(Array::Type::int8);
  for (const RowKey& key : keys) {
    actors.int4(key.actor_id);
    collections.int4(key.collection_id);
    rkeys.int8(key.rkey);
  }
  params.array(actors);
  if (key_ == Key::ManyCollections) params.array(collections);
  params.array(rkeys);
}

void KeyedTable::append_keys(store::Params& params, Events events) const {
  std::vector<RowKey> keys;
  keys.reserve(events.size());
  for (const event::ResolvedEvent* event : events) {
    keys.push_back({event->actor_id, event->collection_id, event->rkey_number});
  }
  append_keys(params, keys);
}

void KeyedTable::append_key(store::CopyRows& rows, const event::ResolvedEvent& event) const {
  rows.int4(event.actor_id);
  if (key_ == Key::ManyCollections) rows.int4(event.collection_id);
  rows.int8(event.rkey_number);
}

void KeyedTable::copy_into(store::Session& session, const std::string& table, Events events,
                           Timestamp indexed_at) const {
  store::CopyRows rows(statements_.copied_size());
  fill(rows, events, indexed_at);
  session.copy(table, statements_.copied(), rows);
}

void KeyedTable::copy(store::Session& session, Events events, Timestamp indexed_at) const {
  copy_into(session, statements_.table(), events, indexed_at);
}

std::size_t KeyedTable::merge(store::Session& session, Events events,
                              std::span<const std::int32_t> settled, Timestamp indexed_at) const {
  session.execute(statements_.make_stage(), {});
  copy_into(session, statements_.stage(), events, indexed_at);
  store::Params params;
  params.array(int4_array(settled));
  return session.execute(statements_.merge(), params).affected();
}

std::vector<std::vector<FoundKey>> KeyedTable::read_keys(store::Session& session,
                                                         std::span<const KeyRange> ranges) const {
  std::vector<RowKey> firsts;
  Array lasts(Array::Type::int8);
  Array limits(Array::Type::int8);
  for (const KeyRange& range : ranges) {
    firsts.push_back(range.first);
    lasts.int8(range.last);
    limits.int8(static_cast<std::int64_t>(range.limit));
  }
  store::Params params;
  append_keys(params, firsts);
  params.array(lasts).array(limits);
  const store::Rows rows = session.execute(statements_.read_keys(), params);
  std::vector<std::vector<FoundKey>> keys(ranges.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    keys.at(static_cast<std::size_t>(rows.int8(i, 0)))
        .push_back({rows.int8(i, 1), rows.boolean(i, 2)});
  }
  return keys;
}

void KeyedTable::drop_stubs(store::Session& session, Events events) const {
  store::Params params;
  append_keys(params, events);
  session.execute(statements_.drop_stubs(), params);
}

std::vector<std::int32_t> KeyedTable::actors_with_rows_before(
    store::Session& session, std::span<const std::int32_t> actors,
    std::span<const std::int64_t> revs) const {
  Array before(Array::Type::int8);
  for (const std::int64_t rev : revs) before.int8(rev);
  store::Params params;
  params.array(int4_array(actors)).array(before);
  return ids_in(session.execute(statements_.actors_with_rows_before(), params));
}

std::vector<StoredRow> KeyedTable::rows_before(store::Session& session, std::int32_t actor_id,
                                               std::int64_t rev, const std::optional<RowKey>& after,
                                               std::size_t limit) const {
  const RowKey last = after.value_or(RowKey{actor_id, std::numeric_limits<std::int32_t>::min(),
                                            std::numeric_limits<std::int64_t>::min()});
  store::Params params;
  params.int4(actor_id).int8(rev).int8(static_cast<std::int64_t>(limit)).int8(last.rkey);
  params.int4(key_ == Key::ManyCollections ? last.collection_id : collection_id());
  const store::Rows rows = session.execute(statements_.rows_before(), params);
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
    // Nearly all: made here, because the server's function takes longer than the rest of the row.
    if (row.key.rkey >= 0) {
      row.path += atproto::Tid{static_cast<std::uint64_t>(row.key.rkey)}.to_string();
    } else {
      row.path += rows.text(i, 1);
    }
  }
  return found;
}

std::size_t KeyedTable::remove(store::Session& session, Events events, Timestamp indexed_at) const {
  store::Params params;
  append_keys(params, events);
  Array revs(Array::Type::int8);
  Array deletes(Array::Type::boolean);
  for (const event::ResolvedEvent* event : events) {
    revs.int8(static_cast<std::int64_t>(event->change().rev.value));
    deletes.boolean(event->change().operation == event::Operation::Delete);
  }
  params.array(revs).array(deletes);
  if (statements_.keeps_stubs()) params.timestamp(indexed_at);
  return session.execute(statements_.remove(), params).affected();
}

std::vector<std::int64_t> KeyedTable::read_revs(store::Session& session,
                                                std::span<const RowKey> keys) const {
  store::Params params;
  append_keys(params, keys);
  const store::Rows rows = session.execute(statements_.read_revs(), params);
  std::vector<std::int64_t> revs(keys.size(), kNoRow);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    revs.at(static_cast<std::size_t>(rows.int8(i, 0))) = rows.int8(i, 1);
  }
  return revs;
}

std::size_t KeyedTable::purge(store::Session& session, std::int32_t actor_id, std::int64_t rev,
                              std::size_t limit) const {
  store::Params params;
  params.int4(actor_id).int8(rev).int8(static_cast<std::int64_t>(limit));
  return session.execute(statements_.purge(), params).affected();
}

}  // namespace skua::writer
