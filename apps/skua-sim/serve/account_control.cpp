#include "account_control.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "atproto/cid.hpp"
#include "atproto/errc.hpp"
#include "control_request.hpp"
#include "repo/dag_cbor_writer.hpp"

namespace skua::sim {
namespace {

using Json = nlohmann::ordered_json;

/// A text of the body; empty: it is missing.
std::string field_of(const Json& body, const char* name) {
  const auto found = body.find(name);
  return found != body.end() && found->is_string() ? found->get<std::string>() : std::string();
}

/// A value in the JSON form of the data model (atproto.com/specs/data-model), without bytes.
void write_cbor(const Json& value, repo::CborWriter& writer) {
  if (value.is_string()) {
    writer.string(value.get_ref<const std::string&>());
  } else if (value.is_boolean()) {
    writer.boolean(value.get<bool>());
  } else if (value.is_number_integer()) {
    writer.integer(value.get<std::int64_t>());
  } else if (value.is_array()) {
    writer.list(value.size());
    for (const Json& item : value) write_cbor(item, writer);
  } else if (value.is_object()) {
    const auto link = value.size() == 1 ? value.find("$link") : value.end();
    const auto cid = link != value.end() && link->is_string()
                         ? atproto::Cid::parse(link->get_ref<const std::string&>())
                         : Result<atproto::Cid>(atproto::errc::bad_cid);
    if (cid) return writer.link(*cid);
    std::vector<std::string_view> keys;
    for (const auto& [key, item] : value.items()) keys.push_back(key);
    std::sort(keys.begin(), keys.end(), repo::cbor_key_less);
    writer.map(keys.size());
    for (const std::string_view key : keys) {
      writer.string(key);
      write_cbor(value[std::string(key)], writer);
    }
  } else {
    writer.null();
  }
}

/// Stores `value`, in the JSON form, as the record `rkey`.
Response put_record(const Json& body, Simulation& simulation) {
  Bytes block;
  repo::CborWriter writer(block);
  write_cbor(body["value"], writer);
  const std::string did = field_of(body, "did");
  const std::string rkey = field_of(body, "rkey");
  if (!simulation.network().put_record(did, field_of(body, "collection") + "/" + rkey,
                                       std::move(block), simulation.real_time())) {
    return bad_request("there is no such active account");
  }
  return json_response({{"did", did}, {"rkey", rkey}});
}

/// `{"did": DID, "count": NUMBER}`.
Response identify(const Request& request, Simulation& simulation) {
  const auto body = body_of(request);
  if (!body) return body.error();
  const std::string did = field_of(*body, "did");
  const int count = body->value("count", 1);
  for (int i = 0; i < count; ++i) {
    if (!simulation.network().identify(did, simulation.real_time())) {
      return bad_request("there is no such account");
    }
  }
  return json_response({{"did", did}});
}

/// `{"did": DID, "collection": NSID}`, also with `"delete": true`, or `"rkey": KEY, "value":
/// {...}`.
Response write_record(const Request& request, Simulation& simulation) {
  const auto body = body_of(request);
  if (!body) return body.error();
  if (body->contains("value")) return put_record(*body, simulation);
  const std::string did = field_of(*body, "did");
  const std::string collection = field_of(*body, "collection");
  Network& network = simulation.network();
  if (body->value("delete", false)) {
    if (!network.delete_record(did, collection, simulation.real_time())) {
      return bad_request("the account has no such record");
    }
    return json_response({{"did", did}});
  }
  const auto rkey = network.create_record(did, collection, simulation.real_time());
  if (!rkey) return bad_request("the account cannot create such a record");
  return json_response({{"did", did}, {"rkey", *rkey}});
}

/// `{"did": DID, "url": URL}`.
Response name_labeler(const Request& request, Simulation& simulation) {
  const auto body = body_of(request);
  if (!body) return body.error();
  const std::string did = field_of(*body, "did");
  const std::string url = field_of(*body, "url");
  if (!simulation.network().make_labeler(did, url, simulation.real_time())) {
    return bad_request("there is no such account");
  }
  return json_response({{"did", did}, {"url", url}});
}

}  // namespace

void add_account_control(Router& router, Simulation& simulation) {
  router.post("/record",
              [&simulation](const Request& request) { return write_record(request, simulation); });
  router.post("/identity",
              [&simulation](const Request& request) { return identify(request, simulation); });
  router.post("/labeler-service",
              [&simulation](const Request& request) { return name_labeler(request, simulation); });
}

}  // namespace skua::sim
