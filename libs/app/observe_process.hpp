#pragma once

#include <memory>
#include <vector>

#include "accounts/network_accounts.hpp"
#include "accounts/plc_tail.hpp"
#include "pages/process_state.hpp"
#include "sources/source_run.hpp"
#include "store/clock_watch.hpp"

namespace skua::app {

/// What the parts of an Indexer know about its state. `accounts` and `plc_tail` may be null. Any
/// thread. The phase is `Running`.
pages::ProcessState observe_process(const std::vector<std::unique_ptr<sources::SourceRun>>& runs,
                                    const accounts::NetworkAccounts* accounts,
                                    const accounts::PlcTail* plc_tail,
                                    const store::ClockWatch& clocks);

}  // namespace skua::app
