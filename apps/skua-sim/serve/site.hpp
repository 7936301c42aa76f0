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

/// The content of one server. Must outlive its connections.
struct Site {
  /// For log lines; empty: omitted.
  std::string name;
  EventLog& log;
  Router router;
  /// By path.
  std::map<std::string, WebsocketOffer> websockets = {};
  /// The faults of HTTP requests; null: none.
  FaultPlan* faults = nullptr;
  /// The password of `admin`, required for all requests (HTTP Basic, RFC 7617); empty: none.
  std::string password = {};
  /// The delay of each answer.
  std::chrono::milliseconds delay{0};
  RequestLoad load = {};
};

/// 401 if the request lacks the password; nothing: it is authorized.
std::optional<Response> unauthorized(const Site& site, const Request& request);

/// Answers a request, applies its faults, and logs both.
Response answer(Site& site, const Request& request);
/// Logs an answer that was created elsewhere.
void log_answer(Site& site, const Request& request, const Response& response);

}  // namespace skua::sim
