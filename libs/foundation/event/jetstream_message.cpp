#include "event/jetstream_message.hpp"

#include <string_view>

#include <fmt/format.h>

#include "event/errc.hpp"
#include "event/frame_fields.hpp"
#include "records/json_text.hpp"
#include "repo/dag_cbor.hpp"

namespace skua::event {

namespace {

constexpr std::string_view name_of(Operation operation) {
  switch (operation) {
    case Operation::Create:
      return "create";
    case Operation::Update:
      return "update";
    case Operation::Delete:
      break;
  }
  return "delete";
}

void append_field(std::string& out, std::string_view before, std::string_view text) {
  out += before;
  records::append_json_string(out, text, records::Nul::Escape);
}

void append_commit(std::string& out, const RecordChange& change, atproto::Document& record) {
  append_field(out, R"("kind":"commit","commit":{"rev":)", change.rev.to_string());
  append_field(out, R"(,"operation":)", name_of(change.operation));
  append_field(out, R"(,"collection":)", change.collection);
  append_field(out, R"(,"rkey":)", change.rkey);
  if (change.operation != Operation::Delete) {
    if (repo::read_dag_cbor(change.block, record, repo::kAnyForm)) {
      out += R"(,"record":)";
      records::append_json(out, record.root(), records::Nul::Escape);
    }
    if (change.cid) append_field(out, R"(,"cid":)", change.cid->to_string());
  }
  out += '}';
}

void append_seq_and_time(std::string& out, std::int64_t seq, Timestamp time) {
  out += fmt::format(R"(,"seq":{})", seq);
  append_field(out, R"(,"time":)", format_datetime(time));
  out += '}';
}

/// The envelope fields of both versions. Fields of the other version stay empty.
struct JetstreamEnvelope {
  JsonSlice type;  // v2: of the frame, then of its payload
  JsonSlice kind;  // v1
  JsonSlice did;
  JsonSlice time_us;       // v1
  JsonSlice seq;           // v2
  JsonSlice time;          // v2
  JsonSlice witnessed_at;  // v2
  JsonSlice commit;        // v1
  JsonSlice identity;
  JsonSlice account;
  JsonSlice sync;
  JsonSlice info;   // v1
  JsonSlice whole;  // v2: the object that contains the fields of a commit

  Result<void> read(JsonWalker& walker) {
    return walker.find({{"$type", type},
                        {"kind", kind},
                        {"did", did},
                        {"time_us", time_us},
                        {"seq", seq},
                        {"time", time},
                        {"witnessedAt", witnessed_at},
                        {"commit", commit},
                        {"identity", identity},
                        {"account", account},
                        {"sync", sync},
                        {"info", info},
                        {"payload", whole}});
  }
  bool is_v2() const { return type.is_present(); }
};

JetstreamKind kind_of(std::string_view name) {
  if (name == "commit") return JetstreamKind::Commit;
  if (name == "identity") return JetstreamKind::Identity;
  if (name == "account") return JetstreamKind::Account;
  if (name == "sync") return JetstreamKind::Sync;
  return name == "info" ? JetstreamKind::Info : JetstreamKind::Unknown;
}

std::string_view text_of(JsonSlice slice) {
  return slice.plain_string().value_or(std::string_view());
}

JetstreamKind kind_of(const JetstreamEnvelope& envelope) {
  if (!envelope.is_v2()) return kind_of(text_of(envelope.kind));
  const std::string_view type = text_of(envelope.type);
  if (type == "error") return JetstreamKind::Error;
  // The part before the `#` is the name of the lexicon, which is redundant.
  const auto hash = type.find('#');
  return hash == std::string_view::npos ? JetstreamKind::Unknown : kind_of(type.substr(hash + 1));
}

/// Reads the envelope; in v2 this is the envelope of the payload. `at_end` is set if only blanks
/// follow.
Result<void> read_envelope(std::string_view text, JetstreamEnvelope& out, bool& at_end) {
  JsonWalker walker(text);
  const auto outer = out.read(walker);
  at_end = outer && walker.at_end();
  if (!out.is_v2() || text_of(out.type) != "message") {
    out.whole = JsonSlice(text);
    return outer;
  }
  JetstreamEnvelope payload;
  JsonWalker inner(out.whole.text());
  const auto read = payload.read(inner);
  payload.whole = out.whole;
  out = payload;
  return outer ? read : outer;
}

std::int64_t cursor_of(const JetstreamEnvelope& envelope) {
  const auto cursor = (envelope.is_v2() ? envelope.seq : envelope.time_us).integer();
  return cursor && *cursor >= 1 && *cursor <= kMaxSeq ? *cursor : 0;
}

std::optional<Timestamp> time_of(JsonSlice slice) {
  const auto time = parse_datetime(text_of(slice));
  return time ? std::optional(time->instant) : std::nullopt;
}

std::optional<Timestamp> time_of(const JetstreamEnvelope& envelope) {
  if (!envelope.is_v2()) return Timestamp(std::chrono::microseconds(cursor_of(envelope)));
  if (const auto witnessed = time_of(envelope.witnessed_at)) return witnessed;
  return time_of(envelope.time);
}

Result<void> read_message(JsonSlice body, std::string_view name_key, JetstreamMessage& out) {
  JsonSlice name;
  JsonSlice message;
  const auto found = JsonWalker(body.text()).find({{name_key, name}, {"message", message}});
  if (!found) return found.error();
  out.name = name.string().value_or(std::string());
  if (out.name.empty()) return errc::bad_name;
  out.message = message.string().value_or(std::string());
  return {};
}

void read_identity(JsonSlice body, Timestamp time, std::string_view text, UnresolvedEvent& event) {
  JsonSlice handle;
  JsonSlice said_at;
  const auto found = JsonWalker(body.text()).find({{"handle", handle}, {"time", said_at}});
  if (!found) return reject_json("identity", found.error().message(), text, event);
  read_json_identity(handle, time_of(said_at).value_or(time), event);
}

void read_account(JsonSlice body, Timestamp time, std::string_view text, UnresolvedEvent& event) {
  JsonSlice active;
  JsonSlice status;
  JsonSlice said_at;
  const auto found =
      JsonWalker(body.text()).find({{"active", active}, {"status", status}, {"time", said_at}});
  if (!found) return reject_json("account", found.error().message(), text, event);
  read_json_account(active, status, time_of(said_at).value_or(time), text, event);
}

Result<void> read_sync(JsonSlice body, JetstreamMessage& out) {
  JsonSlice rev;
  const auto found = JsonWalker(body.text()).find({{"rev", rev}});
  if (!found) return found.error();
  const auto tid = atproto::Tid::parse(text_of(rev));
  if (!tid || !tid->fits_int8()) return errc::bad_rev;
  out.rev = *tid;
  return {};
}

UnresolvedEvent& add_event(JetstreamMessage& out) {
  UnresolvedEvent& event = out.events.emplace_back();
  event.did = out.did;
  event.seq = out.cursor;
  return event;
}

}  // namespace

bool JetstreamWriter::append(std::string& out, const UnresolvedEvent& event, Timestamp time) {
  if (std::holds_alternative<Rejection>(event.body)) return false;
  append_field(out, R"({"did":)", event.did);
  out += fmt::format(R"(,"time_us":{},)", time.time_since_epoch().count());
  if (const auto* change = std::get_if<RecordChange>(&event.body)) {
    append_commit(out, *change, record_);
  } else if (const auto* identity = std::get_if<IdentityChange>(&event.body)) {
    append_field(out, R"("kind":"identity","identity":{"did":)", event.did);
    if (identity->handle) append_field(out, R"(,"handle":)", *identity->handle);
    append_seq_and_time(out, event.seq, identity->time);
  } else if (const auto* account = std::get_if<AccountChange>(&event.body)) {
    out += R"("kind":"account","account":{"active":)";
    out += account->active ? "true" : "false";
    append_field(out, R"(,"did":)", event.did);
    if (!account->status.empty()) append_field(out, R"(,"status":)", account->status);
    append_seq_and_time(out, event.seq, account->time);
  }
  out += '}';
  return true;
}

Result<JetstreamPeek> peek_jetstream(std::string_view text) {
  JetstreamEnvelope envelope;
  bool at_end = false;
  const auto read = read_envelope(text, envelope, at_end);
  if (!read && cursor_of(envelope) == 0) return read.error();
  JetstreamPeek peek;
  peek.kind = kind_of(envelope);
  peek.cursor = cursor_of(envelope);
  peek.did = json_did(envelope.did);
  return peek;
}

Result<void> JetstreamDecoder::decode(std::string_view text, JetstreamMessage& out) {
  out.events.clear();
  out.rev.reset();
  out.cid_matches = true;
  out.lacks_record = false;
  out.name.clear();
  out.message.clear();

  if (text.size() > kMaxJsonMessage) return errc::json_too_large;
  JetstreamEnvelope envelope;
  bool at_end = false;
  if (const auto read = read_envelope(text, envelope, at_end); !read) return read.error();
  if (!at_end) return errc::json_malformed;
  out.kind = kind_of(envelope);
  out.cursor = cursor_of(envelope);
  out.did = json_did(envelope.did);
  const auto time = time_of(envelope);
  out.time = time.value_or(Timestamp());

  switch (out.kind) {
    case JetstreamKind::Unknown:
      return {};
    case JetstreamKind::Info:
      return read_message(envelope.is_v2() ? envelope.whole : envelope.info, "name", out);
    case JetstreamKind::Error:
      return read_message(envelope.whole, "error", out);
    default:
      break;
  }
  if (out.cursor == 0) return errc::json_bad_cursor;
  if (out.did.empty()) return errc::bad_did;
  if (!time) return errc::bad_time;
  if (out.kind == JetstreamKind::Sync) return read_sync(envelope.sync, out);
  if (out.kind == JetstreamKind::Identity) {
    read_identity(envelope.identity, out.time, text, add_event(out));
  } else if (out.kind == JetstreamKind::Account) {
    read_account(envelope.account, out.time, text, add_event(out));
  } else {
    read_commit(envelope.is_v2() ? envelope.whole : envelope.commit, text, out);
  }
  return {};
}

void JetstreamDecoder::read_commit(JsonSlice body, std::string_view text, JetstreamMessage& out) {
  JsonOp op;
  op.whole = text;
  UnresolvedEvent& event = add_event(out);
  const auto found = JsonWalker(body.text())
                         .find({{"rev", op.rev},
                                {"operation", op.action},
                                {"collection", op.collection},
                                {"rkey", op.rkey},
                                {"cid", op.cid},
                                {"record", op.record}});
  if (!found) return reject_json("commit", found.error().message(), text, event);
  out.cid_matches = op_.decode(op, event);
  out.lacks_record = op_.lacks_record();
}

}  // namespace skua::event
