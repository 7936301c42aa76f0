#include "event/op_decoder.hpp"

#include <utility>

#include "atproto/syntax.hpp"
#include "repo/dag_cbor_reader.hpp"
#include "repo/dag_cbor_writer.hpp"

namespace skua::event {
namespace {

constexpr std::size_t kMaxRecord = 1'000'000;

std::optional<std::string_view> text_of(const atproto::Value& op, std::string_view key) {
  const auto value = op.find(key);
  if (!value || !value->is_string()) return std::nullopt;
  return value->string();
}

}  // namespace

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

  Rejection rejection;
  rejection.what = text_of(op, "path").value_or("op");
  rejection.error = std::move(error);
  rejection.payload = std::move(std::get<RecordChange>(out.body).block);
  if (rejection.payload.empty()) repo::CborWriter(rejection.payload).value(op);
  out.body = std::move(rejection);
}

std::string OpDecoder::read(const atproto::Value& op, UnresolvedEvent& out) {
  auto& change = out.body.emplace<RecordChange>();
  const auto path = text_of(op, "path");
  if (!path) return "op without a path";
  const auto parts = atproto::parse_repo_path(*path);
  if (!parts) return "path: " + parts.error().message();
  out.type = records::record_type_of(parts->collection);
  change.collection = parts->collection;
  change.rkey = parts->rkey;
  change.rev = rev_;

  const auto action = text_of(op, "action");
  if (!action) return "op without an action";
  const auto operation = operation_of(*action);
  if (!operation) return "unknown action " + std::string(action->substr(0, 32));
  change.operation = *operation;
  return change.operation == Operation::Delete ? std::string() : read_record(op, change);
}

std::string OpDecoder::read_record(const atproto::Value& op, RecordChange& change) {
  const auto cid = op.find("cid");
  if (!cid || !cid->is_link()) return "op without the record's CID";
  change.cid = cid->link();
  const auto found = blocks_.find(change.cid->digest);
  if (found == blocks_.end()) return "the record's block is missing";
  // The one copy: it lets the frame go while the record lives.
  const ByteView block = found->second;
  change.block.assign(block.begin(), block.end());
  if (block.size() > kMaxRecord) return "the record is larger than 1,000,000 bytes";

  repo::CborOptions options;
  options.allow_floats = true;
  if (const auto read = repo::read_dag_cbor(change.block, scratch_, options); !read) {
    return "the record's block: " + read.error().message();
  }
  change.record = records::decode_record(change.collection, change.rkey, scratch_);
  return {};
}

}  // namespace skua::event
