#include "frames.hpp"

#include <array>

#include "repo/car_writer.hpp"
#include "repo/dag_cbor_writer.hpp"

namespace skua::sim {
namespace {

using repo::CborWriter;

/// Writes a message's header, and the fields in the order of the calls, which must be DAG-CBOR's
/// order.
class MessageWriter {
 public:
  MessageWriter(std::string_view type, std::string_view did, std::size_t fields)
      : cbor_(message_.bytes) {
    message_.did = did;
    cbor_.map(2);
    cbor_.string("t");
    cbor_.string(type);
    cbor_.string("op");
    cbor_.integer(1);
    cbor_.map(fields);
  }

  /// Leaves a gap for the value, which the host inserts.
  void seq() {
    cbor_.string("seq");
    message_.seq_at = message_.bytes.size();
  }
  void text(std::string_view key, std::string_view value) {
    cbor_.string(key);
    cbor_.string(value);
  }
  void time(Timestamp time) { text("time", format_datetime(time)); }
  void boolean(std::string_view key, bool value) {
    cbor_.string(key);
    cbor_.boolean(value);
  }
  void bytes(std::string_view key, ByteView value) {
    cbor_.string(key);
    cbor_.bytes(value);
  }
  CborWriter& field(std::string_view key) {
    cbor_.string(key);
    return cbor_;
  }

  Message take() { return std::move(message_); }

 private:
  Message message_;
  CborWriter cbor_;
};

void write_op(CborWriter& cbor, const CommitOp& op) {
  cbor.map(op.prev ? 4 : 3);
  cbor.string("cid");
  if (op.cid) {
    cbor.link(*op.cid);
  } else {
    cbor.null();
  }
  cbor.string("path");
  cbor.string(op.path);
  if (op.prev) {
    cbor.string("prev");
    cbor.link(*op.prev);
  }
  cbor.string("action");
  cbor.string(op.action);
}

Bytes car_of(const CommitFrame& commit) {
  constexpr std::size_t kFraming = 40;
  std::size_t size = 2 * kFraming;
  for (const auto& [cid, block] : commit.blocks) size += block.size() + kFraming;
  Bytes car;
  car.reserve(size);
  const std::array roots = {commit.commit};
  repo::CarWriter writer(car, roots);
  for (const auto& [cid, block] : commit.blocks) writer.block(cid, block);
  return car;
}

}  // namespace

Message commit_message(const CommitFrame& commit) {
  constexpr std::size_t kFieldsOfFirst = 11;
  MessageWriter writer("#commit", commit.did, kFieldsOfFirst + (commit.prev_data ? 1 : 0));
  CborWriter& ops = writer.field("ops");
  ops.list(commit.ops.size());
  for (const CommitOp& op : commit.ops) write_op(ops, op);
  writer.text("rev", commit.rev);
  writer.seq();
  writer.text("repo", commit.did);
  writer.time(commit.time);
  writer.field("blobs").list(0);
  if (commit.since) {
    writer.text("since", *commit.since);
  } else {
    writer.field("since").null();
  }
  writer.bytes("blocks", car_of(commit));
  writer.field("commit").link(commit.commit);
  writer.boolean("rebase", false);
  writer.boolean("tooBig", false);
  if (commit.prev_data) writer.field("prevData").link(*commit.prev_data);
  return writer.take();
}

Message sync_message(std::string_view did, Timestamp time, std::string_view rev,
                     ByteView commit_block) {
  MessageWriter writer("#sync", did, 5);
  writer.text("did", did);
  writer.text("rev", rev);
  writer.seq();
  writer.time(time);
  const atproto::Cid root = atproto::Cid::of(commit_block);
  const std::array roots = {root};
  Bytes car;
  repo::CarWriter(car, roots).block(root, commit_block);
  writer.bytes("blocks", car);
  return writer.take();
}

Message identity_message(std::string_view did, Timestamp time, std::string_view handle) {
  MessageWriter writer("#identity", did, 4);
  writer.text("did", did);
  writer.seq();
  writer.time(time);
  writer.text("handle", handle);
  return writer.take();
}

Message account_message(std::string_view did, Timestamp time, bool active,
                        std::string_view status) {
  MessageWriter writer("#account", did, status.empty() ? 4 : 5);
  writer.text("did", did);
  writer.seq();
  writer.time(time);
  writer.boolean("active", active);
  if (!status.empty()) writer.text("status", status);
  return writer.take();
}

}  // namespace skua::sim
