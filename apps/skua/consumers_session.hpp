#pragma once

#include <string>
#include <vector>

#include <fmt/format.h>

#include "command_line/finish.hpp"
#include "commands.hpp"
#include "consumers.hpp"
#include "feed/consumers/consumer_change.hpp"
#include "store/session.hpp"

namespace skua::cli {

/// A session for `skua consumers`. Throws UsageError and store::SqlError.
store::Session consumers_session(const Settings& settings, const ConsumersFlags& flags);

/// The values of `--set` as a JSON object. Throws UsageError.
std::string tuning_overrides(const std::vector<std::string>& overrides);

/// Throws UsageError for values of `skua consumers add` that no database allows.
template <class NewConsumer>
void require_valid(const NewConsumer& consumer) {
  try {
    check_new(consumer);
  } catch (const feed::ConsumerError& error) {
    throw UsageError(error.what());
  }
}

/// Runs a command that changes consumers, and prints `done`, or why it was not possible. Returns
/// the exit code.
template <class Action>
int attempt(const Settings& settings, const ConsumersFlags& flags, const char* command,
            const std::string& done, Action action) {
  store::Session session = consumers_session(settings, flags);
  try {
    action(session);
  } catch (const feed::ConsumerError& error) {
    command_line::print_stderr("skua consumers {}: {}\n", command, error.what());
    return kFailure;
  }
  fmt::print("{}\n", done);
  return kSuccess;
}

}  // namespace skua::cli
