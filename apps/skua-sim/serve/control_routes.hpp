#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "serve/http_message.hpp"
#include "serve/request_load.hpp"
#include "serve/router.hpp"
#include "serve/server.hpp"
#include "serve/stream_host.hpp"
#include "serve/tap_host.hpp"
#include "simulation.hpp"

namespace skua::sim {

/// Returns the error answer to a bad request to the control server, in the form of XRPC.
Response bad_request(const std::string& message);

/// Returns the body of a request, a JSON object. An empty body counts as an empty object.
Outcome<nlohmann::ordered_json> body_of(const Request& request);

/// Adds the control routes that act for single accounts, for tests. POST /record creates or deletes
/// a record, or stores a given one. POST /identity publishes #identity messages. POST
/// /labeler-service sets the address of a labeler in the directory. The simulation must outlive the
/// router.
void add_account_control(Router& router, Simulation& simulation);

/// A relay, or the labeler, that can be taken down.
struct SteeredRelay {
  StreamHost& stream;
  Server& server;
};

/// The objects that the control server controls. Must outlive its router.
struct ControlTargets {
  Simulation& simulation;
  FaultPlan& plan;
  /// The streams; the first one is that of the relay.
  std::vector<const StreamHost*> streams;
  /// Null if there is no Tap.
  TapHost* tap = nullptr;
  /// The relays by number, from 1.
  std::vector<SteeredRelay> relays = {};
  /// Nothing if there is no labeler.
  std::optional<SteeredRelay> labeler = std::nullopt;
  /// The requests to the PLC directory.
  const RequestLoad* plc_load = nullptr;
  /// The requests to the PDSes, in their order.
  std::vector<const RequestLoad*> pds_loads = {};
};

/// The control interface for tests: POST /fault, /relay, /labeler, /pause, /resume, /step, /dump
/// and GET /state. Bodies are JSON; errors have the form of XRPC.
Router control_routes(const ControlTargets& targets);

}  // namespace skua::sim
