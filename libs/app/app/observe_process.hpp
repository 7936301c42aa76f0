#pragma once

#include <memory>
#include <vector>

#include "accounts/network_accounts.hpp"
#include "accounts/plc_tail.hpp"
#include "pages/process_status.hpp"
#include "postgres/server_clock.hpp"
#include "sources/source_run.hpp"

namespace skua::app {

/// Collects what the parts of an Indexer know about its state. `accounts` and `plc_tail` may be
/// null. The phase is `Running`. Any thread.
pages::ProcessState observe_process(const std::vector<std::unique_ptr<sources::SourceRun>>& runs,
                                    const accounts::NetworkAccounts* accounts,
                                    const accounts::PlcTail* plc_tail,
                                    const postgres::ClockWatch& clocks);

}  // namespace skua::app
