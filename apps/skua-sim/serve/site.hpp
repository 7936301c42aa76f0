#pragma once

#include <string>

#include "event_log.hpp"
#include "fault_plan.hpp"
#include "router.hpp"
#include "stream_host.hpp"

namespace skua::sim {

/// What one server offers. Must outlive its connections.
struct Site {
  /// In log lines; empty: left out.
  std::string name;
  EventLog& log;
  Router router;
  /// subscribeRepos; null: not offered.
  StreamHost* stream = nullptr;
  /// What befalls HTTP requests; null: nothing.
  FaultPlan* faults = nullptr;
};

/// Answers a request, with the faults that fall on it, and logs both.
Response answer(Site& site, const Request& request);
/// Logs an answer that somebody else has given.
void log_answer(Site& site, const Request& request, const Response& response);

}  // namespace skua::sim
