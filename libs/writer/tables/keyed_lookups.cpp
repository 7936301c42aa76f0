#include <limits>

#include <fmt/format.h>

#include "atproto/tid.hpp"
#include "base/account_number.hpp"
#include "writer/tables/keyed_table.hpp"

// How a KeyedTable looks rows up without changing them.

namespace skua::writer {
namespace {

using store::column;

/// `place`: the index of the range.
struct KeyInRange {
  std::int64_t place;
  std::int64_t rkey;
  bool is_stub;
};

struct RevisionAt {
  std::int64_t place;
  std::int64_t rev;
};

}  // namespace

std::vector<std::vector<FoundKey>> KeyedTable::read_keys(store::Session& session,
                                                         std::span<const KeyRange> ranges) const {
  std::vector<RecordKey> firsts;
  for (const KeyRange& range : ranges) firsts.push_back(range.first);
  store::Params params;
  append_keys(params, firsts);
  params.array(column(ranges, &KeyRange::last));
  params.array(
      column(ranges, [](const KeyRange& range) { return static_cast<std::int64_t>(range.limit); }));
  std::vector<std::vector<FoundKey>> keys(ranges.size());
  for (const auto& [place, rkey, is_stub] :
       session.query<KeyInRange>(statements_.read_keys(), params)) {
    keys.at(static_cast<std::size_t>(place)).push_back({rkey, is_stub});
  }
  return keys;
}

std::vector<AccountNumber> KeyedTable::actors_with_rows_before(
    store::Session& session, std::span<const AccountNumber> actors,
    std::span<const std::int64_t> revs) const {
  return session.query<AccountNumber>(statements_.actors_with_rows_before(), actors, revs);
}

std::vector<StoredRow> KeyedTable::rows_before(store::Session& session, AccountNumber actor_id,
                                               std::int64_t rev,
                                               const std::optional<RecordKey>& after,
                                               std::size_t limit) const {
  const RecordKey last =
      after.value_or(RecordKey{actor_id, std::numeric_limits<std::int32_t>::min(),
                               std::numeric_limits<std::int64_t>::min()});
  const store::Rows rows =
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
    // The text of a TID is made here, because the function of the server takes longer than the rest
    // of the row.
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
  std::vector<std::int64_t> revs(keys.size(), kNoRow);
  for (const auto& [place, rev] : session.query<RevisionAt>(statements_.read_revs(), params)) {
    revs.at(static_cast<std::size_t>(place)) = rev;
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
