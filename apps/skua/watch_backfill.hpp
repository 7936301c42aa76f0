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

// What the commands have in common that work on backfill in the foreground.

/// Whoever signs, and where accounts live: a file, or the network.
std::unique_ptr<accounts::AccountSource> backfill_accounts(
    const Settings& settings, const std::optional<std::string>& did_docs,
    const VerificationFlags& verification, const std::string& database_url);

/// Shows how it goes until all is done, or it has to stop: lines drawn in place, or one every so
/// often. `look` is called about once a second; the words that it gives are a line of their own,
/// none where it gives none. True: the user asked for the stop.
bool watch_backfill(const app::BackfillRun& backfill, std::chrono::seconds every,
                    StopSignal& stop_signal, const std::function<std::string()>& look = {});

}  // namespace skua::cli
