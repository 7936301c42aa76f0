#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "accounts/account_source.hpp"
#include "app/backfill_run.hpp"
#include "settings.hpp"
#include "stop_signal.hpp"
#include "verification.hpp"

namespace skua::cli {

// Shared by the commands that run a backfill in the foreground.

/// Finds signing keys and hosts of accounts: in a file, or on the network.
std::unique_ptr<accounts::AccountSource> backfill_accounts(
    const Settings& settings, const std::optional<std::string>& did_docs,
    const VerificationFlags& verification, const std::string& database_url);

/// Shows the progress until the backfill is done or must stop: as lines redrawn in place, or as one
/// line per interval. `look` is called about once a second; the text that it returns is printed as
/// a line, unless empty. True: the user requested the stop.
bool watch_backfill(const app::BackfillRun& backfill, std::chrono::seconds every,
                    StopSignal& stop_signal, const std::function<std::string()>& look = {});

}  // namespace skua::cli
