#pragma once

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

/// The objects that the control server controls. Must outlive its router.
struct ControlTargets {
  Simulation& simulation;
  FaultPlan& plan;
  /// The relay is the first.
  std::vector<const StreamHost*> streams;
  /// Null: there is no Tap.
  TapHost* tap = nullptr;
  /// By number, from 1.
  std::vector<SteeredRelay> relays = {};
  /// Nothing: there is no labeler.
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
