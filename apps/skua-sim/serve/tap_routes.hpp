#pragma once

#include "router.hpp"
#include "tap_host.hpp"
#include "world/message_log.hpp"

namespace skua::sim {

/// The HTTP routes of Tap besides /channel: /health, /repos/add, /repos/remove, /resolve/:did,
/// /info/:did, /stats/*. `relay`: the source of its cursor. The arguments must outlive the router.
Router tap_routes(TapHost& tap, const Network& network, const MessageLog& relay);

/// The control routes of Tap for tests: POST /tap/resync and GET /tap/stalled.
void add_tap_control(Router& router, TapHost& tap);

}  // namespace skua::sim
