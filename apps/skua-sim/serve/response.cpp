#include "response.hpp"

namespace skua::sim {

Response json_response(const nlohmann::ordered_json& body, unsigned status) {
  using Json = nlohmann::ordered_json;
  const auto text = body.dump(-1, ' ', false, Json::error_handler_t::replace);
  auto response = text_response(text, "application/json");
  response.status = status;
  return response;
}

Response text_response(std::string_view text, std::string content_type) {
  Response response;
  response.content_type = std::move(content_type);
  response.body.assign(text.begin(), text.end());
  return response;
}

Response error_response(unsigned status, std::string_view error, std::string_view message) {
  return json_response({{"error", error}, {"message", message}}, status);
}

}  // namespace skua::sim
