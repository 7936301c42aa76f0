#pragma once

#include "router.hpp"
#include "simulation.hpp"

namespace skua::sim {

/// The control routes that act for single accounts, for tests: POST /record (creates or deletes a
/// record, or stores a given one), POST /identity (publishes #identity messages) and POST
/// /labeler-service (an address of a labeler in the directory). The simulation must outlive the
/// router.
void add_account_control(Router& router, Simulation& simulation);

}  // namespace skua::sim
