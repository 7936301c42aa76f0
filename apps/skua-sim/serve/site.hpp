#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>

#include "event_log.hpp"
#include "fault_plan.hpp"
#include "request_load.hpp"
#include "router.hpp"
#include "websocket_session.hpp"

namespace skua::sim {

/// What one server offers. Must outlive its connections.
struct Site {
  /// In log lines; empty: left out.
  std::string name;
  EventLog& log;
  Router router;
  /// By path.
  std::map<std::string, WebsocketOffer> websockets = {};
  /// What befalls HTTP requests; null: nothing.
  FaultPlan* faults = nullptr;
  /// Of `admin`, wanted for everything (HTTP Basic, RFC 7617); empty: none.
  std::string password = {};
  /// How long each answer is held back.
  std::chrono::milliseconds delay{0};
  RequestLoad load = {};
};

/// 401 where the request does not name the password; nothing: it may go on.
std::optional<Response> unauthorized(const Site& site, const Request& request);

/// Answers a request, with the faults that fall on it, and logs both.
Response answer(Site& site, const Request& request);
/// Logs an answer that somebody else has given.
void log_answer(Site& site, const Request& request, const Response& response);

}  // namespace skua::sim
