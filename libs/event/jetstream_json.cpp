#include "event/jetstream_json.hpp"

#include <string_view>

#include <fmt/format.h>

#include "records/json_text.hpp"
#include "repo/dag_cbor_reader.hpp"

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

}  // namespace skua::event
