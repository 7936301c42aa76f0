#include "plc_routes.hpp"

#include <string>

namespace skua::sim {
namespace {

using Json = nlohmann::ordered_json;

Response not_registered(const std::string& did) {
  return json_response({{"message", "DID not registered: " + did}}, 404);
}

Response document(const Request& request, const Network& network) {
  const auto& did = request.segments.at("did");
  const auto body = network.did_document(did);
  if (body.is_null()) return not_registered(did);
  auto response = json_response(body);
  response.content_type = "application/did+ld+json";
  return response;
}

Response audit_log(const Request& request, const Network& network) {
  const auto& did = request.segments.at("did");
  const auto operations = network.plc_audit(did);
  return operations.empty() ? not_registered(did) : json_response(operations);
}

Response export_operations(const Request& request, const Network& network) {
  const auto count = number_of(request, "count", 10, 1, 1000);
  if (!count) return count.error();
  const auto after = request.query.find("after");
  std::string lines;
  for (const auto& operation : network.plc_export(after == request.query.end() ? "" : after->second,
                                                  static_cast<std::size_t>(*count))) {
    lines += operation.dump();
    lines += '\n';
  }
  return text_response(lines, "application/jsonlines");
}

}  // namespace

Router plc_routes(const Network& network) {
  Router router;
  router.get("/_health", [](const Request&) { return json_response({{"version", "skua-sim"}}); });
  router.get("/export",
             [&network](const Request& request) { return export_operations(request, network); });
  router.get("/:did", [&network](const Request& request) { return document(request, network); });
  router.get("/:did/log/audit",
             [&network](const Request& request) { return audit_log(request, network); });
  return router;
}

}  // namespace skua::sim
