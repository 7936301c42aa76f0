#include "recheck/verdict.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "atproto/data_model.hpp"
#include "event/json_transcoder.hpp"
#include "event/repository_chunks.hpp"
#include "postgres/locks.hpp"
#include "recheck/verdict.sql.hpp"
#include "records/record.hpp"
#include "writer/added_lexicons.hpp"
#include "writer/collection_writer.hpp"

namespace skua::recheck {

namespace {

constexpr std::int64_t kBlocks = 128;
constexpr std::size_t kRows = 1'000;
/// The number of rows whose JSON one statement makes.
constexpr std::size_t kRowsOfGroup = 32;
constexpr std::size_t kJsonBytes = 16'000'000;

postgres::Statement places_of(const writer::TableWriter& table) {
  return {"recheck_places_" + table.name(),
          fmt::format("SELECT p.ctid::text FROM {} AS p WHERE p.ctid >= $1::text::tid AND "
                      "p.ctid < $2::text::tid AND p.cid IS NOT NULL ORDER BY p.ctid LIMIT {}",
                      table.name(), kRows)};
}

/// Reads the rows at some places, in their order. It does not find a row that another writer has
/// changed since: that row is at another place, and the writer has checked it.
postgres::Statement rows_of(const writer::TableWriter& table) {
  const bool is_records = table.collection_id() == 0;
  return {"recheck_rows_" + table.name(),
          fmt::format(
              "SELECT t.ctid::text, t.actor_id, {1}, t.rkey, t.rev, "
              "t.cid, t.indexed_at, a.did, c.nsid, "
              "bsky.rkey_text(t.actor_id, {1}, t.rkey), {2}, {3}, {4} "
              "FROM {0} AS t JOIN bsky.actors AS a ON a.id = t.actor_id "
              "JOIN bsky.collections AS c ON c.id = {1} "
              "WHERE t.ctid = ANY ($1::text[]::tid[]) AND t.cid IS NOT NULL ORDER BY t.ctid",
              table.name(), is_records ? "t.collection_id" : std::to_string(table.collection_id()),
              is_records ? "t.record::text" : "bsky.record_json(t)::text",
              is_records ? "t.block" : "decode(t.extra ->> '$cbor', 'base64')",
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
  std::optional<Bytes> block;
  std::optional<std::string> invalid_reason;
};

/// Appends the rows at `places`, and returns the size of their JSON.
std::size_t append_rows(postgres::Session& session, const writer::TableWriter& table,
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
                    .block = std::move(found.block),
                    .invalid_reason = std::move(found.invalid_reason)});
  }
  return json_bytes;
}

/// Adds the values of blobs that rows of former versions do not have. The added values are always
/// valid.
std::string with_whole_blobs(const std::string& json) {
  if (json.find("\"avatar\"") == json.npos && json.find("\"banner\"") == json.npos) return json;
  auto record = nlohmann::json::parse(json);
  for (const char* key : {"avatar", "banner"}) {
    const auto blob = record.find(key);
    if (blob == record.end() || !blob->is_object() || blob->contains("mimeType")) continue;
    (*blob)["mimeType"] = "image/png";
    (*blob)["size"] = 1;
  }
  return record.dump();
}

/// Returns true if the collection of the row has neither a table nor an added lexicon.
bool has_no_lexicon(const StoredRow& row, const lexicon_store::AddedChecks& added) {
  return records::typed_collection_id(row.collection) == 0 &&
         added.record(row.collection) == nullptr;
}

using postgres::column;
using tables::RecordKey;

void take_locks(postgres::Session& session, const std::vector<Verdict>& verdicts) {
  std::vector<postgres::Lock> locks;
  locks.reserve(verdicts.size());
  for (const Verdict& verdict : verdicts) {
    const auto type = static_cast<std::uint8_t>(verdict.event.event.type);
    locks.push_back(postgres::account_lock(session, type, verdict.row.did));
  }
  postgres::lock_xact(session, std::move(locks));
}

void set_reasons(postgres::Session& session, const std::vector<Verdict*>& verdicts) {
  const auto of_key = [&](auto member) {
    return column(verdicts, [=](const Verdict* verdict) { return verdict->row.key.*member; });
  };
  session.execute(sql::recheck_reasons, of_key(&RecordKey::actor_id),
                  of_key(&RecordKey::collection_id), of_key(&RecordKey::rkey),
                  column(verdicts, [](const Verdict* verdict) { return verdict->row.rev; }),
                  column(
                      verdicts, [](const Verdict* verdict) -> const auto& {
                        return verdict->event.record().invalid_reason;
                      }));
}

void move(postgres::Session& session, const Verdict& verdict, writer::Effects& effects) {
  const std::int32_t collection = verdict.row.key.collection_id;
  // The loop covers both tables, because an invalid post also has an empty row in the table of
  // posts.
  for (const auto* table : {&writer::records_table(), writer::table_of(collection)}) {
    table->discard(session, std::array{verdict.row.key}, std::nullopt, effects);
  }
  const std::array guarded = {writer::GuardedChange{&verdict.event, false}};
  if (writer::write_collection(session, collection, guarded, verdict.row.indexed_at, effects) ==
      0) {
    throw postgres::DefectError("a checked record has no row: " + verdict.event.event.at_uri(), "");
  }
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

std::vector<StoredRow> read_rows(postgres::Session& session, const writer::TableWriter& table,
                                 std::span<const std::string> places) {
  std::vector<StoredRow> rows;
  append_rows(session, table, places, rows);
  return rows;
}

Result<void> append_block(const StoredRow& row, Bytes& block) {
  if (row.block) {
    block.insert(block.end(), row.block->begin(), row.block->end());
    return {};
  }
  return event::JsonTranscoder().append(row.json, block);
}

Stretch read_stretch(postgres::Session& session, const writer::TableWriter& table, Place from,
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

std::optional<Verdict> judge(const StoredRow& row, bool is_typed_row,
                             const lexicon_store::AddedChecks& added) {
  if (!row.invalid_reason && has_no_lexicon(row, added)) return std::nullopt;
  Bytes block;
  if (row.block || !is_typed_row) {
    if (!append_block(row, block)) return std::nullopt;
  } else if (!event::JsonTranscoder().append(with_whole_blobs(row.json), block)) {
    return std::nullopt;
  }
  Verdict verdict;
  event::UnresolvedEvent& event = verdict.event.event;
  event.did = row.did;
  event.source = event::EventSource::Backfill;
  const atproto::Cid cid{atproto::Cid::kDagCbor, row.cid};
  if (!event::read_path(row.collection + "/" + row.rkey, row.rev, event).empty()) {
    return std::nullopt;
  }
  auto& change = verdict.event.change();
  change.operation = event::Operation::Update;
  atproto::Document scratch;
  if (!event::read_record(cid, block, scratch, change).empty()) return std::nullopt;
  auto& record = change.record;
  if (std::holds_alternative<std::monostate>(record.record) && !record.invalid_reason) {
    record.invalid_reason = writer::added_violation(added, change);
  }
  if (record.invalid_reason == row.invalid_reason) return std::nullopt;
  // The JSON of a row of a former version can differ from the record. Without an equal CID the
  // record cannot be called valid.
  if (row.invalid_reason && atproto::Cid::of(block) != cid) return std::nullopt;
  if (record.invalid_reason) record.json = row.json;
  verdict.row = row;
  return verdict;
}

std::size_t change_rows(postgres::Session& session, const writer::TableWriter& table,
                        std::vector<Verdict>& verdicts, writer::Effects& effects) {
  take_locks(session, verdicts);
  std::vector<tables::RecordKey> keys;
  keys.reserve(verdicts.size());
  for (const Verdict& verdict : verdicts) keys.push_back(verdict.row.key);
  const std::vector<std::int64_t> revs = table.read_revs(session, keys);
  std::vector<Verdict*> in_place;
  std::size_t changed = 0;
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    Verdict& verdict = verdicts[i];
    if (revs[i] != static_cast<std::int64_t>(verdict.row.rev.value)) continue;
    ++changed;
    if (!verdict.moves(table.collection_id() != 0)) {
      in_place.push_back(&verdict);
      continue;
    }
    move(session, verdict, effects);
  }
  if (!in_place.empty()) set_reasons(session, in_place);
  return changed;
}

}  // namespace skua::recheck
