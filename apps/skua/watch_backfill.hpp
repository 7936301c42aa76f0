#pragma once

#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "accounts/account_source.hpp"
#include "app/backfill_run.hpp"
#include "invocation.hpp"
#include "stop_signal.hpp"

namespace skua::cli {

/// The functions set and return whether `--quiet` suppresses progress lines. To be set once, before
/// any command runs.
void set_quiet(bool quiet);
bool is_quiet();

/// Prints a progress line at once, unless `--quiet` suppresses it. With `--log-format json` this
/// function and the next two print the line in the form of the log.
void print_progress(std::string_view line, std::FILE* stream = stdout);
/// Prints the result of a command that runs until it is stopped, even with `--quiet`.
void print_last_line(std::string_view line);
/// Prints to stderr why the program fails, even with `--quiet`.
void print_error(std::string_view message);

// The following functions are shared by the commands that run a backfill in the foreground.

/// Finds signing keys and hosts of accounts in the file of --did-docs, or on the network.
std::unique_ptr<accounts::AccountSource> backfill_accounts(const Invocation& invocation,
                                                           const std::string& database_url);

/// Shows the progress until the backfill is done or must stop: as lines redrawn in place, or as one
/// line per interval. `look` is called about once a second; if it returns a text, the text is
/// printed as a line. Returns true if the user requested the stop.
bool watch_backfill(const app::BackfillRun& backfill, std::chrono::seconds every,
                    StopSignal& stop_signal, const std::function<std::string()>& look = {});

}  // namespace skua::cli
