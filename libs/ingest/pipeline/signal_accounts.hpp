#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"
#include "base/generational_map.hpp"
#include "base/metric.hpp"
#include "base/seeded_hash.hpp"
#include "event/unresolved_event.hpp"

namespace skua::pipeline {

/// Metrics of accounts with records in a signal collection. Any thread may use them.
struct SignalMetrics {
  Counter found{
      "signal_accounts", "skua_signal_accounts_total", "accounts",
      "Accounts that were seen with a record of a signal collection; an account may count "
      "again after a while"};
  Counter dropped{"signal_accounts_dropped", "skua_signal_accounts_dropped_total", "accounts",
                  "Accounts that were seen while too many others waited; their next record counts"};
  Counter queued{"signal_jobs", "skua_signal_jobs_total", "jobs",
                 "Repositories that were queued because their account was seen"};
  Gauge waiting{"signal_accounts_waiting", "skua_signal_accounts_waiting", "accounts",
                "Accounts that were seen and whose repositories are to be queued"};
};

/// Notices the accounts that write records of some collections, each account once for a while. Its
/// memory is bounded. Any thread may use it.
class SignalAccounts {
 public:
  struct Options {
    /// The NSIDs of the collections.
    std::vector<std::string> collections;
    /// The maximum number of accounts that wait for `take`.
    std::size_t most_waiting = 10'000;
    /// The number of recent accounts that are remembered, and are not returned again.
    std::size_t remembered = 100'000;
  };

  explicit SignalAccounts(Options options);

  /// Whether a message may have a record of one of the collections. It searches the bytes for the
  /// name, and is for messages that are not decoded otherwise.
  bool may_be_in(ByteView message) const;
  /// Remembers the accounts that create or update records of the collections. Without such an event
  /// it takes no lock.
  void look_at(std::span<const event::UnresolvedEvent> events);

  /// Returns at most `most` of the accounts that wait, the earliest first. They no longer wait.
  std::vector<std::string> take(std::size_t most);
  /// Makes accounts wait again, before the others. It is called after a failure.
  void give_back(std::vector<std::string> dids);

  SignalMetrics& metrics() { return metrics_; }
  const SignalMetrics& metrics() const { return metrics_; }

 private:
  struct Seen {};

  bool is_signal(const event::UnresolvedEvent& event) const;
  void add(const std::string& did);

  const Options options_;
  SignalMetrics metrics_;
  std::mutex mutex_;
  GenerationalMap<std::string, Seen, SeededHash> seen_;
  std::vector<std::string> waiting_;
};

}  // namespace skua::pipeline
