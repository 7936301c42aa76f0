#include "control_request.hpp"

namespace skua::sim {

Response bad_request(const std::string& message) {
  return error_response(400, "InvalidRequest", message);
}

Outcome<nlohmann::ordered_json> body_of(const Request& request) {
  using Json = nlohmann::ordered_json;
  if (request.body.empty()) return Json::object();
  auto body = Json::parse(request.body, nullptr, false);
  if (!body.is_object()) return bad_request("the body must be a JSON object");
  return body;
}

}  // namespace skua::sim
