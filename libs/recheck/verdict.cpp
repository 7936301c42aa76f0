#include "recheck/verdict.hpp"

#include <string>
#include <utility>
#include <variant>

#include <nlohmann/json.hpp>

#include "atproto/data_model.hpp"
#include "event/json_transcoder.hpp"
#include "event/record_decoder.hpp"
#include "records/record.hpp"
#include "writer/added_lexicons.hpp"

namespace skua::recheck {
namespace {

/// Fills in what `bsky.record_json` leaves out of blobs, with values that are always valid.
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

/// A stored row whose collection has neither a table nor an added lexicon.
bool has_no_lexicon(const StoredRow& row, const lexicon_store::AddedChecks& added) {
  return records::typed_collection_id(row.collection) == 0 &&
         added.record(row.collection) == nullptr;
}

}  // namespace

std::optional<Verdict> judge(const StoredRow& row, bool is_typed_row,
                             const lexicon_store::AddedChecks& added) {
  if (!row.invalid_reason && has_no_lexicon(row, added)) return std::nullopt;
  Bytes block;
  event::JsonTranscoder transcoder;
  if (!transcoder.append(is_typed_row ? with_whole_blobs(row.json) : row.json, block)) {
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
  // The JSON of a record that violates its lexicon can lack a part of it: a NUL, or that a number
  // was a floating point number.
  if (row.invalid_reason && atproto::Cid::of(block) != cid) return std::nullopt;
  if (record.invalid_reason) record.json = row.json;
  verdict.row = row;
  return verdict;
}

}  // namespace skua::recheck
