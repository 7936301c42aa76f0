#pragma once

#include <chrono>
#include <cstddef>
#include <functional>

#include "base/time.hpp"
#include "filter/filter_watch.hpp"
#include "pipeline/signal_accounts.hpp"
#include "postgres/session_thread.hpp"

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
  SignalQueue(postgres::Runtime& runtime, Options options, pipeline::SignalAccounts& accounts,
              const filter::CurrentFilter& filter);

  void start() { thread_.start(); }
  /// Queues the accounts that wait, if the database answers, and ends the thread.
  void stop();

  const pipeline::SignalMetrics& metrics() const { return accounts_.metrics(); }

 private:
  void queue(postgres::Session& session);

  const Options options_;
  pipeline::SignalAccounts& accounts_;
  const filter::CurrentFilter& filter_;
  /// The one of jobs.
  const Clock& clock_;
  postgres::SessionThread thread_;
};

}  // namespace skua::app
