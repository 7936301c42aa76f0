#include "recheck/stored_rows.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <string_view>

#include <fmt/format.h>

#include "atproto/base64.hpp"

namespace skua::recheck {
namespace {

constexpr std::int64_t kBlocks = 128;
constexpr std::size_t kRows = 1'000;
/// A statement makes the JSON of so many rows.
constexpr std::size_t kRowsOfGroup = 32;
constexpr std::size_t kJsonBytes = 16'000'000;

store::Statement places_of(const writer::TableWriter& table) {
  return {"recheck_places_" + table.name(),
          fmt::format("SELECT p.ctid::text FROM {} AS p WHERE p.ctid >= $1::text::tid AND "
                      "p.ctid < $2::text::tid AND p.cid IS NOT NULL ORDER BY p.ctid LIMIT {}",
                      table.name(), kRows)};
}

/// The rows at some places, in their order. A row that was changed since is not at its place any
/// more: the writer that changed it has checked it.
store::Statement rows_of(const writer::TableWriter& table) {
  const bool is_records = table.collection_id() == 0;
  return {"recheck_rows_" + table.name(),
          fmt::format(
              "SELECT t.ctid::text, t.actor_id, {1}, t.rkey, t.rev, "
              "encode(t.cid, 'base64'), t.indexed_at, a.did, c.nsid, "
              "bsky.rkey_text(t.actor_id, {1}, t.rkey), {2}, {3} "
              "FROM {0} AS t JOIN bsky.actors AS a ON a.id = t.actor_id "
              "JOIN bsky.collections AS c ON c.id = {1} "
              "WHERE t.ctid = ANY ($1::text[]::tid[]) AND t.cid IS NOT NULL ORDER BY t.ctid",
              table.name(), is_records ? "t.collection_id" : std::to_string(table.collection_id()),
              is_records ? "t.record::text" : "bsky.record_json(t)::text",
              is_records ? "t.invalid_reason" : "NULL::text")};
}

atproto::Digest digest_of(std::string_view base64) {
  atproto::Digest digest{};
  const auto bytes = atproto::parse_base64(base64).value();
  std::copy_n(bytes.begin(), std::min(bytes.size(), digest.size()), digest.begin());
  return digest;
}

/// Returns the size of their JSON.
std::size_t append_rows(store::Session& session, const writer::TableWriter& table,
                        const store::Array& places, std::vector<StoredRow>& rows) {
  store::Params params;
  params.array(places);
  const store::Rows found = session.execute(rows_of(table), params);
  std::size_t json_bytes = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    StoredRow& row = rows.emplace_back();
    row.place = Place::parse(found.text(i, 0));
    row.key = {found.int8(i, 1), found.int4(i, 2), found.int8(i, 3)};
    row.rev = atproto::Tid{static_cast<std::uint64_t>(found.int8(i, 4))};
    row.cid = digest_of(found.text(i, 5));
    row.indexed_at = found.timestamp(i, 6);
    row.did = found.text(i, 7);
    row.collection = found.text(i, 8);
    row.rkey = found.text(i, 9);
    row.json = found.text(i, 10);
    row.invalid_reason = found.text_or_null(i, 11);
    json_bytes += row.json.size();
  }
  return json_bytes;
}

}  // namespace

std::string Place::text() const {
  return fmt::format("({},{})", block, offset);
}

Place Place::parse(std::string_view text) {
  Place place;
  const char* const end = text.data() + text.size();
  const auto block = std::from_chars(text.data() + 1, end, place.block);
  std::from_chars(block.ptr + 1, end, place.offset);
  return place;
}

Stretch read_stretch(store::Session& session, const writer::TableWriter& table, Place from,
                     std::int64_t end_block) {
  const Place end{.block = std::min(from.block + kBlocks, end_block)};
  store::Params range;
  range.text(from.text()).text(end.text());
  const store::Rows places = session.execute(places_of(table), range);
  Stretch stretch;
  std::size_t read = 0;
  while (read < places.size() && stretch.json_bytes < kJsonBytes) {
    store::Array group(store::Array::Type::text);
    const std::size_t group_end = std::min(read + kRowsOfGroup, places.size());
    for (; read < group_end; ++read) group.text(places.text(read, 0));
    stretch.json_bytes += append_rows(session, table, group, stretch.rows);
  }
  const bool is_cut = read < places.size() || places.size() == kRows;
  stretch.next = is_cut ? Place::parse(places.text(read - 1, 0)).after() : end;
  stretch.is_end = !is_cut && end.block >= end_block;
  return stretch;
}

}  // namespace skua::recheck
