#include "http_server/response.hpp"

#include <nlohmann/json.hpp>

namespace skua::http_server {

std::string error_json(std::string_view error, std::string_view message) {
  using Json = nlohmann::ordered_json;
  // The message may quote the client.
  return Json{{"error", error}, {"message", message}}.dump(-1, ' ', false,
                                                           Json::error_handler_t::replace);
}

Response error_response(unsigned status, std::string_view error, std::string_view message) {
  return {status, "application/json", error_json(error, message) + "\n"};
}

}  // namespace skua::http_server
