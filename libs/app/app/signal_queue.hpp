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
/// accounts, adds the noticed accounts to the filter. Has its own thread and connection.
class SignalQueue {
 public:
  struct Options {
    std::chrono::milliseconds interval{2'000};
    /// The maximum number of accounts that are queued in an hour. Further accounts wait.
    std::size_t most_an_hour = 100'000;
    /// The thread calls this function after it has added jobs.
    std::function<void()> on_queued;
  };

  /// All arguments must outlive the queue.
  SignalQueue(postgres::Runtime& runtime, Options options, pipeline::SignalAccounts& accounts,
              const filter::CurrentFilter& filter);

  void start() { thread_.start(); }
  /// Queues the waiting accounts, if the database answers, and ends the thread.
  void stop();

  const pipeline::SignalMetrics& metrics() const { return accounts_.metrics(); }

 private:
  void queue(postgres::Session& session);

  const Options options_;
  pipeline::SignalAccounts& accounts_;
  const filter::CurrentFilter& filter_;
  /// The clock that jobs use.
  const Clock& clock_;
  postgres::SessionThread thread_;
};

}  // namespace skua::app
