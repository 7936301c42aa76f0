#pragma once

#include "router.hpp"
#include "tap_host.hpp"
#include "world/message_log.hpp"

namespace skua::sim {

/// What Tap answers besides /channel: /health, /repos/add, /repos/remove, /resolve/:did,
/// /info/:did, /stats/*. `relay`: where its cursor comes from. What is passed must outlive the
/// router.
Router tap_routes(TapHost& tap, const Network& network, const MessageLog& relay);

/// How a test steers Tap, on the control server: POST /tap/restart, /tap/resync and GET
/// /tap/stalled.
void add_tap_control(Router& router, TapHost& tap);

}  // namespace skua::sim
