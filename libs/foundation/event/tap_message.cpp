#include "event/tap_message.hpp"

#include <fmt/format.h>

#include "event/errc.hpp"

namespace skua::event {
namespace {

TapType type_of(JsonSlice type) {
  const auto name = type.plain_string();
  if (name == "record") return TapType::Record;
  // Older servers send "user" for "identity".
  return name == "identity" || name == "user" ? TapType::Identity : TapType::Unknown;
}

std::int64_t id_of(JsonSlice slice) {
  const auto id = slice.integer();
  return id && *id >= 1 ? *id : 0;
}

struct TapEnvelope {
  JsonSlice id;
  JsonSlice type;
  JsonSlice record;
  JsonSlice identity;
  JsonSlice user;

  Result<void> read(JsonWalker& walker) {
    return walker.find(
        {{"id", id}, {"type", type}, {"record", record}, {"identity", identity}, {"user", user}});
  }
  JsonSlice body() const {
    switch (type_of(type)) {
      case TapType::Record:
        return record;
      case TapType::Identity:
        return identity.is_present() ? identity : user;
      case TapType::Unknown:
        break;
    }
    return {};
  }
};

UnresolvedEvent& add_event(TapMessage& out) {
  UnresolvedEvent& event = out.events.emplace_back();
  event.did = out.did;
  return event;
}

}  // namespace

Result<TapPeek> peek_tap(std::string_view text) {
  TapEnvelope envelope;
  JsonWalker walker(text);
  // The fields before a malformed part count, so that the message can be acknowledged. So the error
  // is ignored.
  (void)envelope.read(walker);
  TapPeek peek;
  peek.id = id_of(envelope.id);
  if (peek.id == 0) return errc::json_bad_id;
  peek.type = type_of(envelope.type);
  JsonSlice did;
  // Ignores an error of the body, as `decode` does.
  (void)JsonWalker(envelope.body().text()).find({{"did", did}});
  peek.did = json_did(did);
  return peek;
}

Result<void> TapDecoder::decode(std::string_view text, Timestamp received_at, TapMessage& out) {
  out.id = 0;
  out.type = TapType::Unknown;
  out.did.clear();
  out.events.clear();
  out.cid_matches = true;
  out.lacks_record = false;

  if (text.size() > kMaxJsonMessage) return errc::json_too_large;
  TapEnvelope envelope;
  JsonWalker walker(text);
  if (const auto read = envelope.read(walker); !read) return read.error();
  if (!walker.at_end()) return errc::json_malformed;
  out.id = id_of(envelope.id);
  if (out.id == 0) return errc::json_bad_id;
  out.type = type_of(envelope.type);
  if (out.type == TapType::Record) read_record(envelope.body(), out);
  if (out.type == TapType::Identity) read_identity(envelope.body(), received_at, out);
  return {};
}

void TapDecoder::read_record(JsonSlice body, TapMessage& out) {
  JsonOp op;
  op.whole = body.text();
  JsonSlice did;
  JsonSlice live;
  const auto found = JsonWalker(body.text())
                         .find({{"did", did},
                                {"live", live},
                                {"rev", op.rev},
                                {"collection", op.collection},
                                {"rkey", op.rkey},
                                {"action", op.action},
                                {"cid", op.cid},
                                {"record", op.record}});
  out.did = json_did(did);
  UnresolvedEvent& event = add_event(out);
  // An event that is not marked as live is backfill, which never delays live events.
  event.source = live.boolean().value_or(false) ? EventSource::Live : EventSource::Backfill;
  if (!found || out.did.empty()) {
    const auto error = found ? make_error_code(errc::bad_did) : found.error();
    return reject_json("record", error.message(), op.whole, event);
  }
  out.cid_matches = op_.decode(op, event);
  out.lacks_record = op_.lacks_record();
}

void TapDecoder::read_identity(JsonSlice body, Timestamp time, TapMessage& out) {
  JsonSlice did;
  JsonSlice handle;
  JsonSlice active;
  JsonSlice status;
  const auto found =
      JsonWalker(body.text())
          .find({{"did", did}, {"handle", handle}, {"is_active", active}, {"status", status}});
  out.did = json_did(did);
  if (!found || out.did.empty()) {
    const auto error = found ? make_error_code(errc::bad_did) : found.error();
    return reject_json("identity", error.message(), body.text(), add_event(out));
  }
  read_json_identity(handle, time, add_event(out));
  // A relay sends no status for an active account, but Tap sends "active".
  if (status.plain_string() == "active") status = JsonSlice();
  read_json_account(active, status, time, body.text(), add_event(out));
}

std::string tap_ack(std::int64_t id) {
  return fmt::format(R"({{"type":"ack","id":{}}})", id);
}

}  // namespace skua::event
