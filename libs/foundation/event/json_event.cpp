#include "event/json_event.hpp"

#include <optional>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "atproto/repository_state.hpp"
#include "atproto/syntax.hpp"
#include "base/text.hpp"
#include "event/errc.hpp"
#include "event/frame_decoder.hpp"
#include "event/json_transcoder.hpp"
#include "event/repository_chunks.hpp"
#include "records/json_text.hpp"
#include "repo/dag_cbor.hpp"

namespace skua::event {

namespace {

using nlohmann::json;

/// Returns the JSON form of bytes in the AT Protocol data model.
json bytes_json(ByteView bytes) {
  Bytes cbor;
  repo::CborWriter(cbor).bytes(bytes);
  atproto::Document document;
  std::string text;
  if (repo::read_dag_cbor(cbor, document)) records::append_json(text, document.root());
  return json::parse(text);
}

/// Replaces binary values, which the JSON library cannot write as text.
void write_out_binaries(json& value) {
  if (value.is_binary()) {
    value = bytes_json(value.get_binary());
  } else if (value.is_structured()) {
    for (json& item : value) write_out_binaries(item);
  }
}

std::string message_of(errc e) {
  return make_error_code(e).message();
}

/// Returns the name of the op in a rejection, which consists of the known parts of its path.
std::string name_of(const JsonOp& op) {
  const auto collection = op.collection.string();
  const auto rkey = op.rkey.string();
  return collection && rkey ? *collection + '/' + *rkey : "op";
}

}  // namespace

Result<Bytes> json_to_dag_cbor(const json& record) {
  json plain = record;
  write_out_binaries(plain);
  Bytes out;
  if (const auto written = JsonTranscoder().append(plain.dump(), out); !written) {
    return written.error();
  }
  return out;
}

std::string_view json_did(JsonSlice did) {
  const auto text = did.plain_string();
  return text && atproto::is_did(*text) ? *text : std::string_view();
}

bool JsonOpDecoder::decode(const JsonOp& op, UnresolvedEvent& out) {
  cid_matches_ = true;
  lacks_record_ = false;
  std::string error = read(op, out);
  if (!error.empty()) {
    const atproto::Tid rev = std::get<RecordChange>(out.body).rev;
    reject_json(name_of(op), std::move(error), op.whole, out);
    auto& rejection = std::get<Rejection>(out.body);
    rejection.operation = operation_of(op.action.string().value_or(std::string()));
    rejection.rev = rev;
  }
  return cid_matches_;
}

std::string JsonOpDecoder::read(const JsonOp& op, UnresolvedEvent& out) {
  out.body.emplace<RecordChange>();
  const auto collection = op.collection.string();
  if (!collection) return "op without a collection";
  const auto rkey = op.rkey.string();
  if (!rkey) return "op without a record key";
  const auto rev_text = op.rev.string();
  const auto rev = atproto::Tid::parse(rev_text.value_or(std::string()));
  if (!rev || !rev->fits_int8()) return message_of(errc::bad_rev);
  if (std::string error = read_path(*collection + '/' + *rkey, *rev, out); !error.empty()) {
    return error;
  }
  const auto action = op.action.string();
  if (!action) return "op without an action";
  const auto operation = operation_of(*action);
  if (!operation) return "unknown action " + action->substr(0, 32);
  auto& change = std::get<RecordChange>(out.body);
  change.operation = *operation;
  return change.operation == Operation::Delete ? std::string() : read_json_record(op, change);
}

std::string JsonOpDecoder::read_json_record(const JsonOp& op, RecordChange& change) {
  lacks_record_ = !op.record.is_present();
  const auto text = op.cid.string();
  const auto cid = atproto::Cid::parse(text.value_or(std::string()));
  if (!cid) return "op without the record's CID";
  if (lacks_record_) return "the record is missing";
  block_.clear();
  if (const auto written = transcoder_.append(op.record.text(), block_); !written) {
    return "the record: " + written.error().message();
  }
  cid_matches_ = atproto::Cid::of(block_, cid->codec) == *cid;
  return read_record(*cid, block_, record_, change);
}

void read_json_identity(JsonSlice handle, Timestamp time, UnresolvedEvent& out) {
  out.type = RecordType::Actor;
  IdentityChange change;
  change.time = time;
  if (const auto text = handle.string(); text) change.handle = handle_hint(*text);
  out.body = std::move(change);
}

void read_json_account(JsonSlice active, JsonSlice status, Timestamp time, std::string_view whole,
                       UnresolvedEvent& out) {
  out.type = RecordType::Actor;
  const auto is_active = active.boolean();
  if (!is_active) return reject_json("account", message_of(errc::bad_active), whole, out);
  AccountChange change;
  change.time = time;
  if (status.is_present()) {
    const auto text = status.string();
    if (!text) return reject_json("account", message_of(errc::bad_status), whole, out);
    change.status = *text;
  }
  change.active = !atproto::hides(*is_active, change.status);
  out.body = std::move(change);
}

void reject_json(std::string_view what, std::string error, std::string_view whole,
                 UnresolvedEvent& out) {
  const ByteView bytes = as_bytes(whole);
  Rejection rejection;
  rejection.what = what;
  rejection.error = std::move(error);
  rejection.payload.assign(bytes.begin(), bytes.end());
  out.body = std::move(rejection);
}

}  // namespace skua::event
