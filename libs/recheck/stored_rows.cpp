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

/// Rows in the order of the table. The sum of the sizes limits how many come to this process.
store::Statement statement_of(const writer::TableWriter& table) {
  const bool is_records = table.collection_id() == 0;
  const std::string collection =
      is_records ? "t.collection_id" : std::to_string(table.collection_id());
  const std::string json = is_records ? "t.record::text" : "bsky.record_json(t)::text";
  const std::string reason = is_records ? "t.invalid_reason" : "NULL::text";
  return {"recheck_" + table.name(),
          fmt::format(
              "SELECT * FROM (SELECT s.*, sum(octet_length(s.json)) OVER (ORDER BY s.place ROWS "
              "UNBOUNDED PRECEDING) AS total, count(*) OVER () AS all_rows FROM ("
              "SELECT t.ctid AS place, t.actor_id, {1} AS collection_id, t.rkey, t.rev, "
              "encode(t.cid, 'base64') AS cid, t.indexed_at, a.did, c.nsid, "
              "bsky.rkey_text(t.actor_id, {1}, t.rkey) AS rkey_text, {2} AS json, {3} AS reason "
              "FROM {0} AS t JOIN bsky.actors AS a ON a.id = t.actor_id "
              "JOIN bsky.collections AS c ON c.id = {1} "
              "WHERE t.ctid = ANY (ARRAY(SELECT p.ctid FROM {0} AS p WHERE p.ctid >= "
              "$1::text::tid AND p.ctid < $2::text::tid AND p.cid IS NOT NULL ORDER BY p.ctid "
              "LIMIT {4}))) AS s) AS s WHERE s.total <= 16000000 OR s.total = "
              "octet_length(s.json) ORDER BY s.place",
              table.name(), collection, json, reason, kRows)};
}

atproto::Digest digest_of(std::string_view base64) {
  atproto::Digest digest{};
  const auto bytes = atproto::parse_base64(base64).value();
  std::copy_n(bytes.begin(), std::min(bytes.size(), digest.size()), digest.begin());
  return digest;
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
  store::Params params;
  params.text(from.text()).text(end.text());
  const store::Rows found = session.execute(statement_of(table), params);
  Stretch stretch;
  stretch.rows.reserve(found.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    StoredRow& row = stretch.rows.emplace_back();
    row.place = Place::parse(found.text(i, 0));
    row.key = {found.int4(i, 1), found.int4(i, 2), found.int8(i, 3)};
    row.rev = atproto::Tid{static_cast<std::uint64_t>(found.int8(i, 4))};
    row.cid = digest_of(found.text(i, 5));
    row.indexed_at = found.timestamp(i, 6);
    row.did = found.text(i, 7);
    row.collection = found.text(i, 8);
    row.rkey = found.text(i, 9);
    row.json = found.text(i, 10);
    row.invalid_reason = found.text_or_null(i, 11);
  }
  const bool is_cut =
      !found.empty() &&
      (found.size() == kRows || static_cast<std::size_t>(found.int8(0, 13)) > found.size());
  stretch.next = is_cut ? stretch.rows.back().place.after() : end;
  stretch.is_end = !is_cut && end.block >= end_block;
  return stretch;
}

}  // namespace skua::recheck
