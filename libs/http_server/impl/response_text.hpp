#pragma once

#include <string>

#include "http_server/response.hpp"

namespace skua::http_server {

/// A response as it is sent: HTTP/1.1. The connection ends after it.
std::string response_text(const Response& response);

}  // namespace skua::http_server
