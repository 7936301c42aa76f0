#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>

#include "serve/event_frame.hpp"
#include "serve/fault.hpp"
#include "serve/request_load.hpp"
#include "serve/router.hpp"
#include "serve/websocket_session.hpp"

namespace skua::sim {

/// The content of one server. The object must outlive the server's connections.
struct Site {
  /// The name in log lines, which omit an empty name.
  std::string name;
  EventLog& log;
  Router router;
  /// The websockets by path.
  std::map<std::string, WebsocketOffer> websockets = {};
  /// The faults of HTTP requests; null if there are none.
  FaultPlan* faults = nullptr;
  /// The password of `admin`, which all requests need (HTTP Basic, RFC 7617); empty if there is
  /// none.
  std::string password = {};
  /// The delay of each answer.
  std::chrono::milliseconds delay{0};
  RequestLoad load = {};
};

/// Returns 401 if the request lacks the password; nothing if it is authorized.
std::optional<Response> unauthorized(const Site& site, const Request& request);

/// Answers a request, applies its faults, and logs both.
Response answer(Site& site, const Request& request);
/// Logs an answer that was created elsewhere.
void log_answer(Site& site, const Request& request, const Response& response);

}  // namespace skua::sim
