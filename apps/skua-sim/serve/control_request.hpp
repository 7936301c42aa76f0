#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "request.hpp"

namespace skua::sim {

/// The error answer to a bad request to the control server, in XRPC's form.
Response bad_request(const std::string& message);

/// The body of a request, a JSON object; an empty body is an empty object.
Outcome<nlohmann::ordered_json> body_of(const Request& request);

}  // namespace skua::sim
