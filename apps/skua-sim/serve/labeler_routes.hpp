#pragma once

#include <string_view>

#include "router.hpp"
#include "simulation.hpp"

namespace skua::sim {

inline constexpr std::string_view kLabelStreamPath = "/xrpc/com.atproto.label.subscribeLabels";

/// The HTTP routes of the labeler besides its stream: the health check.
Router labeler_routes();

/// The control routes of the labeler for tests: POST /label, /labeler/rotate and GET /labels. The
/// simulation must have a labeler and outlive the router.
void add_labeler_control(Router& router, Simulation& simulation);

}  // namespace skua::sim
