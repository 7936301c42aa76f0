#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "request_load.hpp"
#include "router.hpp"
#include "server.hpp"
#include "simulation.hpp"
#include "stream_host.hpp"
#include "tap_host.hpp"

namespace skua::sim {

/// A relay, or the labeler, that can be taken down.
struct SteeredRelay {
  StreamHost& stream;
  Server& server;
};

/// What the control server acts on. Must outlive its router.
struct ControlTargets {
  Simulation& simulation;
  FaultPlan& plan;
  /// The relay's first.
  std::vector<const StreamHost*> streams;
  /// Ends the program as a signal does.
  std::function<void()> stop;
  /// Null: there is none.
  TapHost* tap = nullptr;
  /// By number, from 1.
  std::vector<SteeredRelay> relays = {};
  /// Nothing: there is none.
  std::optional<SteeredRelay> labeler = std::nullopt;
  /// Of the PLC directory.
  const RequestLoad* plc_load = nullptr;
  /// Of the PDSes, in their order.
  std::vector<const RequestLoad*> pds_loads = {};
};

/// How a test steers the simulator: POST /fault, /relay, /labeler, /pause, /resume, /step, /dump,
/// /stop and GET /state. Bodies are JSON; errors have the form of XRPC.
Router control_routes(const ControlTargets& targets);

}  // namespace skua::sim
