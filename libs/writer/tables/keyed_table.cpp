#include "writer/tables/keyed_table.hpp"

namespace skua::writer {
namespace {

using store::Array;

const std::vector<BatchColumn> kOneCollection = {{"actor_id", Array::Type::int4, ""},
                                                 {"rkey", Array::Type::int8, ""}};
const std::vector<BatchColumn> kManyCollections = {{"actor_id", Array::Type::int4, ""},
                                                   {"collection_id", Array::Type::int4, ""},
                                                   {"rkey", Array::Type::int8, ""}};

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
