#pragma once

#include <chrono>
#include <cstddef>
#include <functional>

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
    std::chrono::milliseconds interval{2'000};
    /// How many accounts are queued in an hour; more wait.
    std::size_t most_an_hour = 100'000;
    /// Jobs were added; called on the thread.
    std::function<void()> on_queued;
  };

  /// All outlive it.
  SignalQueue(store::Runtime& runtime, Options options, ingest::SignalAccounts& accounts,
              const filter::CurrentFilter& filter);

  void start() { thread_.start(); }
  /// Queues the accounts that wait, if the database answers, and ends the thread.
  void stop();

  const ingest::SignalMetrics& metrics() const { return accounts_.metrics(); }

 private:
  void queue(store::Session& session);

  const Options options_;
  ingest::SignalAccounts& accounts_;
  const filter::CurrentFilter& filter_;
  /// The one of jobs.
  const Clock& clock_;
  store::SessionThread thread_;
};

}  // namespace skua::app
