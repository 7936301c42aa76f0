#pragma once

#include "invocation.hpp"
#include "postgres/runtime.hpp"
#include "stop_signal.hpp"

namespace skua::cli {

/// `skua serve` with a query database: the changes of all nodes, and the records and queries of the
/// query database. Returns the exit code.
int serve_nodes(const Invocation& invocation, postgres::Runtime& runtime, StopSignal& stop_signal);

}  // namespace skua::cli
