#pragma once

#include "router.hpp"
#include "world/network.hpp"

namespace skua::sim {

/// The PLC directory (web.plc.directory/spec/v0.1/did-plc): `/:did`, `/:did/log/audit`,
/// `/export?after=&count=` and the health check. It accepts no operations. The network must outlive
/// the router.
Router plc_routes(const Network& network);

}  // namespace skua::sim
