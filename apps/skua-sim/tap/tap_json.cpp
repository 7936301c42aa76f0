#include "tap/tap_json.hpp"

#include "records/json_text.hpp"
#include "repo/dag_cbor.hpp"

namespace skua::sim {
namespace {

void add_text(std::string& out, std::string_view before, std::string_view text) {
  out += before;
  records::append_json_string(out, text, records::Nul::Escape);
}

}  // namespace

std::string tap_record_json(const TapRecord& record, atproto::Document& scratch, bool odd_fields) {
  std::string out = odd_fields ? R"("zone":"eu","type":"record","record":{"shard":{"n":[1,null]},)"
                               : R"("type":"record","record":{)";
  out += record.live ? R"("live":true,)" : R"("live":false,)";
  const auto slash = record.path.find('/');
  add_text(out, R"("did":)", record.did);
  add_text(out, R"(,"rev":)", record.rev);
  add_text(out, R"(,"collection":)", record.path.substr(0, slash));
  add_text(out, R"(,"rkey":)", record.path.substr(slash + 1));
  add_text(out, R"(,"action":)", record.action);
  if (!record.block.empty() && repo::read_dag_cbor(record.block, scratch, repo::kAnyForm)) {
    out += R"(,"record":)";
    records::append_json(out, scratch.root(), records::Nul::Escape);
  }
  if (record.cid) add_text(out, R"(,"cid":)", record.cid->to_string());
  out += '}';
  return out;
}

std::string tap_identity_json(const TapIdentity& identity) {
  std::string out = R"("type":"identity","identity":{)";
  add_text(out, R"("did":)", identity.did);
  add_text(out, R"(,"handle":)", identity.handle);
  out += identity.status == "active" ? R"(,"is_active":true)" : R"(,"is_active":false)";
  add_text(out, R"(,"status":)", identity.status);
  out += '}';
  return out;
}

}  // namespace skua::sim
