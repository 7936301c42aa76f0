#include <limits>

#include <fmt/format.h>

#include "base/account_number.hpp"
#include "atproto/tid.hpp"
#include "writer/tables/keyed_table.hpp"

// How a KeyedTable looks rows up without changing them.

namespace skua::writer {
namespace {

using store::Array;

/// The first column.
std::vector<AccountNumber> ids_in(const store::Rows& rows) {
  std::vector<AccountNumber> ids;
  ids.reserve(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) ids.push_back(rows.int8(i, 0));
  return ids;
}

}  // namespace

std::vector<std::vector<FoundKey>> KeyedTable::read_keys(store::Session& session,
                                                         std::span<const KeyRange> ranges) const {
  std::vector<RecordKey> firsts;
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

std::vector<AccountNumber> KeyedTable::actors_with_rows_before(
    store::Session& session, std::span<const AccountNumber> actors,
    std::span<const std::int64_t> revs) const {
  Array wanted(Array::Type::int8);
  for (const AccountNumber actor : actors) wanted.int8(actor);
  Array before(Array::Type::int8);
  for (const std::int64_t rev : revs) before.int8(rev);
  store::Params params;
  params.array(wanted).array(before);
  return ids_in(session.execute(statements_.actors_with_rows_before(), params));
}

std::vector<StoredRow> KeyedTable::rows_before(store::Session& session, AccountNumber actor_id,
                                               std::int64_t rev,
                                               const std::optional<RecordKey>& after,
                                               std::size_t limit) const {
  const RecordKey last =
      after.value_or(RecordKey{actor_id, std::numeric_limits<std::int32_t>::min(),
                               std::numeric_limits<std::int64_t>::min()});
  store::Params params;
  params.int8(actor_id).int8(rev).int8(static_cast<std::int64_t>(limit)).int8(last.rkey);
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

std::vector<std::int64_t> KeyedTable::read_revs(store::Session& session,
                                                std::span<const RecordKey> keys) const {
  store::Params params;
  append_keys(params, keys);
  const store::Rows rows = session.execute(statements_.read_revs(), params);
  std::vector<std::int64_t> revs(keys.size(), kNoRow);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    revs.at(static_cast<std::size_t>(rows.int8(i, 0))) = rows.int8(i, 1);
  }
  return revs;
}

std::vector<ExpiredRow> KeyedTable::expired_rows(store::Session& session,
                                                 const ExpiredQuestion& question) const {
  store::Params params;
  params.timestamp(question.before).int8(static_cast<std::int64_t>(question.limit));
  if (key_ == Key::ManyCollections) {
    params.int4(question.collection_id);
  } else {
    params.text(fmt::format("({},0)", question.first_block));
    params.text(fmt::format("({},0)", question.end_block));
  }
  const store::Rows rows = session.execute(statements_.expired(), params);
  std::vector<ExpiredRow> found;
  found.reserve(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    found.push_back({key_in(rows, i), std::string(rows.text(i, key_size()))});
  }
  return found;
}

}  // namespace skua::writer
