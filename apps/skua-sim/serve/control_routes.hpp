#pragma once

#include <functional>
#include <vector>

#include "router.hpp"
#include "simulation.hpp"
#include "stream_host.hpp"
#include "tap_host.hpp"

namespace skua::sim {

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
};

/// How a test steers the simulator: POST /fault, /pause, /resume, /step, /dump, /stop and GET
/// /state. Bodies are JSON; errors have the form of XRPC.
Router control_routes(const ControlTargets& targets);

}  // namespace skua::sim
