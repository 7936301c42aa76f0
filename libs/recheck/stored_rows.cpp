#include "recheck/stored_rows.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <span>
#include <string_view>

#include <fmt/format.h>

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

/// The rows at some places, in their order. A row that was changed since is at another place: the
/// writer that changed it has checked it.
store::Statement rows_of(const writer::TableWriter& table) {
  const bool is_records = table.collection_id() == 0;
  return {"recheck_rows_" + table.name(),
          fmt::format(
              "SELECT t.ctid::text, t.actor_id, {1}, t.rkey, t.rev, "
              "t.cid, t.indexed_at, a.did, c.nsid, "
              "bsky.rkey_text(t.actor_id, {1}, t.rkey), {2}, {3} "
              "FROM {0} AS t JOIN bsky.actors AS a ON a.id = t.actor_id "
              "JOIN bsky.collections AS c ON c.id = {1} "
              "WHERE t.ctid = ANY ($1::text[]::tid[]) AND t.cid IS NOT NULL ORDER BY t.ctid",
              table.name(), is_records ? "t.collection_id" : std::to_string(table.collection_id()),
              is_records ? "t.record::text" : "bsky.record_json(t)::text",
              is_records ? "t.invalid_reason" : "NULL::text")};
}

struct RowText {
  std::string place;
  AccountNumber actor_id;
  std::int32_t collection_id;
  std::int64_t rkey_number;
  atproto::Tid rev;
  atproto::Digest cid;
  Timestamp indexed_at;
  std::string did;
  std::string collection;
  std::string rkey;
  std::string json;
  std::optional<std::string> invalid_reason;
};

/// Returns the size of their JSON.
std::size_t append_rows(store::Session& session, const writer::TableWriter& table,
                        std::span<const std::string> places, std::vector<StoredRow>& rows) {
  std::size_t json_bytes = 0;
  for (RowText& found : session.query<RowText>(rows_of(table), places)) {
    json_bytes += found.json.size();
    rows.push_back({.place = Place::parse(found.place),
                    .key = {found.actor_id, found.collection_id, found.rkey_number},
                    .rev = found.rev,
                    .cid = found.cid,
                    .indexed_at = found.indexed_at,
                    .did = std::move(found.did),
                    .collection = std::move(found.collection),
                    .rkey = std::move(found.rkey),
                    .json = std::move(found.json),
                    .invalid_reason = std::move(found.invalid_reason)});
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
  const auto places = session.query<std::string>(places_of(table), from.text(), end.text());
  Stretch stretch;
  std::size_t read = 0;
  while (read < places.size() && stretch.json_bytes < kJsonBytes) {
    const std::size_t count = std::min(kRowsOfGroup, places.size() - read);
    stretch.json_bytes +=
        append_rows(session, table, std::span(places).subspan(read, count), stretch.rows);
    read += count;
  }
  const bool is_cut = read < places.size() || places.size() == kRows;
  stretch.next = is_cut ? Place::parse(places[read - 1]).after() : end;
  stretch.is_end = !is_cut && end.block >= end_block;
  return stretch;
}

}  // namespace skua::recheck
