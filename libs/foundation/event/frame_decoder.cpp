#include "event/frame_decoder.hpp"

#include <algorithm>
#include <cstddef>
#include <tuple>
#include <utility>
#include <vector>

#include "atproto/repository_state.hpp"
#include "atproto/syntax.hpp"
#include "base/text.hpp"
#include "event/errc.hpp"
#include "event/frame_fields.hpp"
#include "event/repository_chunks.hpp"
#include "repo/dag_cbor.hpp"

namespace skua::event {

namespace {

using atproto::Value;

constexpr std::size_t kMaxCommitBlocks = 2'000'000;
constexpr std::size_t kMaxSyncBlocks = 10'000;
constexpr std::size_t kMaxOps = 200;

Result<std::int64_t> read_seq(const Value& body) {
  const auto seq = body.find("seq");
  if (!seq || !seq->is_integer() || seq->integer() < 1 || seq->integer() > kMaxSeq) {
    return errc::bad_seq;
  }
  return seq->integer();
}

Result<std::string_view> read_did(const Value& body, std::string_view key) {
  const auto did = body.find(key);
  if (!did || !did->is_string() || !atproto::is_did(did->string())) return errc::bad_did;
  return did->string();
}

Result<Timestamp> read_time(const Value& body) {
  const auto time = body.find("time");
  if (!time || !time->is_string()) return errc::bad_time;
  const auto datetime = parse_datetime(time->string());
  if (!datetime) return errc::bad_time;
  return datetime->instant;
}

Result<atproto::Tid> read_rev(const Value& body) {
  const auto rev = body.find("rev");
  if (!rev || !rev->is_string()) return errc::bad_rev;
  const auto tid = atproto::Tid::parse(rev->string());
  if (!tid || !tid->fits_int8()) return errc::bad_rev;
  return *tid;
}

/// Reads an optional text. Some producers send null, which counts as absent.
Result<std::optional<std::string_view>> read_optional_text(const Value& body, std::string_view key,
                                                           errc error) {
  const auto text = body.find(key);
  if (!text || text->is_null()) return std::optional<std::string_view>();
  if (!text->is_string()) return error;
  return std::optional(text->string());
}

Result<ByteView> read_blocks(const Value& body, std::size_t limit) {
  const auto blocks = body.find("blocks");
  if (!blocks || !blocks->is_bytes()) return errc::bad_blocks;
  if (blocks->size() > limit) return errc::blocks_too_large;
  return blocks->bytes();
}

/// Reads seq, account and time, which all numbered messages have.
Result<void> read_envelope(const Value& body, std::string_view did_key, DecodedFrame& out) {
  const auto seq = read_seq(body);
  if (!seq) return seq.error();
  out.seq = *seq;
  const auto did = read_did(body, did_key);
  if (!did) return did.error();
  out.did = *did;
  const auto time = read_time(body);
  if (!time) return time.error();
  out.time = *time;
  return {};
}

/// Reads name and message of #info or of an error frame.
Result<void> read_message(const Value& body, std::string_view name_key, DecodedFrame& out) {
  const auto name = body.find(name_key);
  if (!name || !name->is_string()) return errc::bad_name;
  out.name = name->string();
  const auto message = read_optional_text(body, "message", errc::bad_message);
  if (!message) return message.error();
  out.message = message->value_or(std::string_view());
  return {};
}

void add_actor_event(DecodedFrame& out, decltype(UnresolvedEvent::body) body) {
  UnresolvedEvent& event = out.events.emplace_back();
  event.did = out.did;
  event.type = RecordType::Actor;
  event.seq = out.seq;
  event.body = std::move(body);
}

Result<void> read_identity(const Value& body, DecodedFrame& out) {
  if (const auto envelope = read_envelope(body, "did", out); !envelope) return envelope.error();
  IdentityChange change;
  change.time = out.time;
  const auto handle = body.find("handle");
  if (handle && handle->is_string()) change.handle = handle_hint(handle->string());
  add_actor_event(out, std::move(change));
  return {};
}

Result<void> read_account(const Value& body, DecodedFrame& out) {
  if (const auto envelope = read_envelope(body, "did", out); !envelope) return envelope.error();
  const auto active = body.find("active");
  if (!active || !active->is_boolean()) return errc::bad_active;
  const auto status = read_optional_text(body, "status", errc::bad_status);
  if (!status) return status.error();
  AccountChange change;
  change.status = status->value_or(std::string_view());
  change.active = !atproto::hides(active->boolean(), change.status);
  change.time = out.time;
  add_actor_event(out, std::move(change));
  return {};
}

std::optional<atproto::Cid> link_of(const Value& map, std::string_view key) {
  const auto link = map.find(key);
  if (!link || !link->is_link()) return std::nullopt;
  return link->link();
}

/// Returns false if the path, action or CID is unreadable.
bool read_op_claim(const Value& op, OpClaim& out) {
  const auto action = op.find("action");
  const auto path = op.find("path");
  if (!action || !action->is_string() || !path || !path->is_string()) return false;
  const auto operation = operation_of(action->string());
  if (!operation) return false;
  out.operation = *operation;
  out.path = path->string();
  out.cid = link_of(op, "cid");
  out.prev = link_of(op, "prev");
  return out.cid.has_value() == (out.operation != Operation::Delete);
}

Result<void> read_sync(const Value& body, DecodedFrame& out) {
  if (const auto envelope = read_envelope(body, "did", out); !envelope) return envelope.error();
  const auto rev = read_rev(body);
  if (!rev) return rev.error();
  out.rev = *rev;
  const auto blocks = read_blocks(body, kMaxSyncBlocks);
  if (!blocks) return blocks.error();
  return repo::load_car(*blocks, out.car);
}

/// Ignores the deprecated fields `rebase`, `tooBig` and `blobs`.
Result<void> read_commit(const Value& body, atproto::Document& scratch, DecodedFrame& out) {
  if (const auto envelope = read_envelope(body, "repo", out); !envelope) return envelope.error();
  const auto rev = read_rev(body);
  if (!rev) return rev.error();
  out.rev = *rev;
  const auto since = body.find("since");
  if (!since || !(since->is_null() || since->is_string())) return errc::bad_since;
  if (since->is_string()) out.claim.since = since->string();
  const auto commit = body.find("commit");
  if (!commit || !commit->is_link()) return errc::bad_commit;
  out.claim.commit = commit->link();
  const auto prev_data = body.find("prevData");
  if (prev_data && !prev_data->is_link() && !prev_data->is_null()) return errc::bad_prev_data;
  if (prev_data && prev_data->is_link()) out.claim.prev_data = prev_data->link();
  const auto ops = body.find("ops");
  if (!ops || !ops->is_list()) return errc::bad_ops;
  if (ops->size() > kMaxOps) return errc::too_many_ops;
  const auto blocks = read_blocks(body, kMaxCommitBlocks);
  if (!blocks) return blocks.error();
  // A commit with `tooBig` has an empty value instead of a CAR.
  if (!blocks->empty()) {
    if (const auto loaded = repo::load_car(*blocks, out.car); !loaded) return loaded.error();
  }
  OpDecoder decoder(out.did, out.seq, *rev, out.car.blocks, scratch);
  out.events.reserve(ops->size());
  out.claim.ops.reserve(ops->size());
  for (const Value op : ops->items()) {
    if (OpClaim claim; read_op_claim(op, claim)) {
      out.claim.ops.push_back(claim);
    } else {
      out.claim.malformed_ops = true;
    }
    decoder.decode(op, out.events.emplace_back());
  }
  return {};
}

Result<MessageType> read_header(const Value& header) {
  const auto op = header.find("op");
  const auto t = header.find("t");
  return message_type(op && op->is_integer() ? std::optional(op->integer()) : std::nullopt,
                      t && t->is_string() ? std::optional(t->string()) : std::nullopt);
}

}  // namespace

void RepoClaim::clear() {
  since.reset();
  commit.reset();
  prev_data.reset();
  ops.clear();
  malformed_ops = false;
}

Result<void> FrameDecoder::decode(ByteView frame, DecodedFrame& out) {
  out.seq = 0;
  out.did.clear();
  out.time = {};
  out.rev.reset();
  out.events.clear();
  out.claim.clear();
  out.car.roots.clear();
  out.car.blocks.clear();
  out.name.clear();
  out.message.clear();

  if (frame.size() > kMaxFrame) return errc::frame_too_large;
  const auto header_size = repo::read_dag_cbor_prefix(frame, header_, repo::kAnyForm);
  if (!header_size) return header_size.error();
  const auto type = read_header(header_.root());
  if (!type) return type.error();
  out.type = *type;
  if (const auto read = repo::read_dag_cbor(frame.subspan(*header_size), body_, repo::kAnyForm);
      !read) {
    return read.error();
  }
  const Value body = body_.root();
  if (!body.is_map()) return errc::bad_body;

  switch (out.type) {
    case MessageType::Commit:
      return read_commit(body, record_, out);
    case MessageType::Sync:
      return read_sync(body, out);
    case MessageType::Identity:
      return read_identity(body, out);
    case MessageType::Account:
      return read_account(body, out);
    case MessageType::Info:
      return read_message(body, "name", out);
    case MessageType::Error:
      return read_message(body, "error", out);
    case MessageType::Unknown:
      break;
  }
  // The sequence number of an unknown message also advances the cursor.
  if (const auto seq = read_seq(body)) out.seq = *seq;
  if (const auto did = body.find("did"); did && did->is_string()) out.did = did->string();
  return {};
}

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

void fold_commit(std::vector<UnresolvedEvent>& events) {
  if (events.size() < 2) return;

  struct Step {
    RecordChange* change;
    std::size_t index;
    auto key() const { return std::tie(change->collection, change->rkey, index); }
  };
  std::vector<Step> steps;
  steps.reserve(events.size());
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (auto* change = std::get_if<RecordChange>(&events[i].body)) steps.push_back({change, i});
  }
  std::sort(steps.begin(), steps.end(),
            [](const Step& a, const Step& b) { return a.key() < b.key(); });

  std::vector<bool> superseded;
  for (auto first = steps.begin(); first != steps.end();) {
    auto last = first;
    while (last + 1 != steps.end() && (last + 1)->change->rkey == first->change->rkey &&
           (last + 1)->change->collection == first->change->collection) {
      if (superseded.empty()) superseded.resize(events.size());
      superseded[last->index] = true;
      ++last;
    }
    // Only the first op shows whether the key existed before the commit.
    if (last != first && last->change->operation != Operation::Delete) {
      last->change->operation =
          first->change->operation == Operation::Create ? Operation::Create : Operation::Update;
    }
    first = last + 1;
  }
  if (superseded.empty()) return;

  std::size_t kept = 0;
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (superseded[i]) continue;
    if (kept != i) events[kept] = std::move(events[i]);
    ++kept;
  }
  events.erase(events.begin() + static_cast<std::ptrdiff_t>(kept), events.end());
}

}  // namespace skua::event
