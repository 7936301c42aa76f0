#include "account_control.hpp"

#include <string>

#include <nlohmann/json.hpp>

#include "control_request.hpp"

namespace skua::sim {
namespace {

using Json = nlohmann::ordered_json;

/// A text of the body; empty: it is missing.
std::string field_of(const Json& body, const char* name) {
  const auto found = body.find(name);
  return found != body.end() && found->is_string() ? found->get<std::string>() : std::string();
}

/// `{"did": DID, "collection": NSID, "delete": true}`.
Response write_record(const Request& request, Simulation& simulation) {
  const auto body = body_of(request);
  if (!body) return body.error();
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
  router.post("/labeler-service",
              [&simulation](const Request& request) { return name_labeler(request, simulation); });
}

}  // namespace skua::sim
