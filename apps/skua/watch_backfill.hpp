#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "accounts/account_source.hpp"
#include "app/backfill_run.hpp"
#include "invocation.hpp"
#include "stop_signal.hpp"

namespace skua::cli {

// Shared by the commands that run a backfill in the foreground.

/// Finds signing keys and hosts of accounts: in the file of --did-docs, or on the network.
std::unique_ptr<accounts::AccountSource> backfill_accounts(const Invocation& invocation,
                                                           const std::string& database_url);

/// Shows the progress until the backfill is done or must stop: as lines redrawn in place, or as one
/// line per interval. `look` is called about once a second; the text that it returns is printed as
/// a line, unless empty. True: the user requested the stop.
bool watch_backfill(const app::BackfillRun& backfill, std::chrono::seconds every,
                    StopSignal& stop_signal, const std::function<std::string()>& look = {});

}  // namespace skua::cli
