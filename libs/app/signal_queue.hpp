#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>

#include "base/time.hpp"
#include "filter/current_filter.hpp"
#include "ingest/signal_accounts.hpp"
#include "store/session_thread.hpp"

namespace skua::app {

/// Queues the repositories of the accounts that SignalAccounts notices. If the filter names
/// accounts, it adds them to the filter. A thread and a connection of its own.
class SignalQueue {
 public:
  struct Options {
    std::string database_url;
    std::chrono::milliseconds interval{2'000};
    /// How many accounts are queued in an hour; more wait.
    std::size_t most_an_hour = 100'000;
    /// Jobs were added; called on the thread.
    std::function<void()> on_queued;
    std::function<void(const std::string&)> on_defect;
  };

  /// All outlive it. `clock`: the one of jobs.
  SignalQueue(Options options, ingest::SignalAccounts& accounts,
              const filter::CurrentFilter& filter, const Clock& clock);

  void start() { thread_.start(); }
  /// Queues the accounts that wait, if the database answers, and ends the thread.
  void stop();

 private:
  void queue(store::Session& session);

  const Options options_;
  ingest::SignalAccounts& accounts_;
  const filter::CurrentFilter& filter_;
  const Clock& clock_;
  store::SessionThread thread_;
};

}  // namespace skua::app
