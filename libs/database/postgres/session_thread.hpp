#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

#include "postgres/runtime.hpp"
#include "postgres/session.hpp"

namespace skua::postgres {

/// Repeats a task on a thread with a database session of its own. After a failure of the server the
/// thread closes the session, logs the failure and repeats the task later. Any other exception is a
/// fatal error (Runtime) and ends the thread, unless `retries_sql_errors` is set.
class SessionThread {
 public:
  struct Options {
    /// The name of the session in `pg_stat_activity`.
    std::string session_name;
    /// See LazySession.
    std::function<void(Session&)> prepare = nullptr;
    /// The component for the log, and the effect of a failure, such as "handles cannot be checked".
    /// The text of a fatal error also begins with the effect. A round that handles all failures of
    /// the server needs neither.
    std::string component = {};
    std::string failure = {};
    /// The pause between a failure and the next round.
    std::chrono::milliseconds retry_pause{1'000};
    /// Whether a wrong statement, a missing right and wrong data are retried too. For work beside
    /// the indexer, which continues without this work.
    bool retries_sql_errors = false;
    /// Whether the owner continues to use the session after the thread has ended. Otherwise the
    /// thread closes it.
    bool keeps_session = false;
  };

  /// One round of the task. The thread connects only if the round asks for the session. Returns the
  /// time until the next round.
  using Round =
      std::function<std::chrono::milliseconds(LazySession& session, const std::stop_token& stop)>;

  SessionThread(Runtime& runtime, Options options, Round round);
  /// Stops the thread. A class whose members the rounds use declares its SessionThread last, or
  /// stops the thread in its destructor.
  ~SessionThread();
  SessionThread(const SessionThread&) = delete;
  SessionThread& operator=(const SessionThread&) = delete;

  /// Starts the thread with a round. Call it once.
  void start();
  /// Begins the next round as soon as the current one ends, unless the current one fails. Any
  /// thread.
  void notify();
  /// Ends the thread after the current round. Any thread.
  void request_stop() { thread_.request_stop(); }
  /// Waits for the end of the thread. Idempotent.
  void stop();

  /// Returns the session, for use before `start`, in a round, and after `stop`.
  LazySession& session() { return session_; }

 private:
  bool is_retried(const SqlError& error) const;
  void run(const std::stop_token& stop);

  Runtime& runtime_;
  const Options options_;
  const Round round_;
  LazySession session_;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  bool notified_ = false;
  std::jthread thread_;
};

/// Limits how much of a table a background pass may read in one round of ten seconds. The limit is
/// 32 MB, or more if the table is so large that the pass would take longer than a day. Each round
/// has its own budget.
class PassBudget {
 public:
  /// Counts a step that has read `bytes` of a table of `table_bytes`. Returns false if the round
  /// must end.
  bool spend(std::int64_t bytes, std::int64_t table_bytes) {
    spent_ += bytes;
    return spent_ < std::max(kBytesOfRound, table_bytes / kRoundsOfDay);
  }

 private:
  static constexpr std::int64_t kBytesOfRound = 32 << 20;
  static constexpr std::int64_t kRoundsOfDay = 86'400 / 10;

  std::int64_t spent_ = 0;
};

}  // namespace skua::postgres
