#include "event/op_decoder.hpp"

#include <utility>

#include "event/frame_fields.hpp"
#include "event/record_decoder.hpp"
#include "repo/dag_cbor_writer.hpp"

namespace skua::event {
std::optional<Operation> operation_of(std::string_view action) {
  if (action == "create") return Operation::Create;
  if (action == "update") return Operation::Update;
  if (action == "delete") return Operation::Delete;
  return std::nullopt;
}

void OpDecoder::decode(const atproto::Value& op, UnresolvedEvent& out) {
  out.did = did_;
  out.seq = seq_;
  std::string error = read(op, out);
  if (error.empty()) return;

  reject(text_field(op, "path").value_or("op"), std::move(error),
         operation_of(text_field(op, "action").value_or("")), out);
  Bytes& payload = std::get<Rejection>(out.body).payload;
  if (payload.empty()) repo::CborWriter(payload).value(op);
}

std::string OpDecoder::read(const atproto::Value& op, UnresolvedEvent& out) {
  out.body.emplace<RecordChange>();
  const auto path = text_field(op, "path");
  if (!path) return "op without a path";
  if (std::string error = read_path(*path, rev_, out); !error.empty()) return error;

  const auto action = text_field(op, "action");
  if (!action) return "op without an action";
  const auto operation = operation_of(*action);
  if (!operation) return "unknown action " + std::string(action->substr(0, 32));
  auto& change = std::get<RecordChange>(out.body);
  change.operation = *operation;
  return change.operation == Operation::Delete ? std::string() : read_block(op, change);
}

std::string OpDecoder::read_block(const atproto::Value& op, RecordChange& change) {
  const auto cid = op.find("cid");
  if (!cid || !cid->is_link()) return "op without the record's CID";
  const auto found = blocks_.find(cid->link().digest);
  if (found == blocks_.end()) return "the record's block is missing";
  return read_record(cid->link(), found->second, scratch_, change);
}

}  // namespace skua::event
