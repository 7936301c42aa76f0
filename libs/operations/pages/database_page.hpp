#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "base/guarded.hpp"
#include "consumers/consumer_judgement.hpp"
#include "http_server/exchange.hpp"
#include "postgres/session.hpp"
#include "postgres/session_thread.hpp"
#include "status/metrics_text.hpp"

namespace skua::pages {

/// The state of the database and of its consumers.
struct DatabaseState {
  struct Consumer {
    std::string name;
    consumers::ConsumerJudgement judgement;
  };

  bool is_read_only = false;
  /// The newest migration of the database.
  int schema_version = 0;
  bool bootstrap_is_open = false;
  /// Unhandled dead letters, counted up to `kMostLetters`.
  std::int64_t dead_letters = 0;
  /// Consumers that do not advance until a person acts.
  std::vector<Consumer> stuck_consumers = {};
  /// The metrics of all consumers.
  std::vector<status::LabelledMetric> consumers = {};

  static constexpr std::int64_t kMostLetters = 1'000;
};

/// Some small queries. Throws postgres::SqlError.
DatabaseState read_database_state(postgres::Session& session);

/// Reads the state of the database on a thread with a session of its own, when it is asked. An
/// answer counts for about a second: many questions cost one read. It repeats a read that failed
/// until the server answers. Owned by one thread.
class DatabaseReader {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  /// `fresh_for`: how long an answer counts.
  explicit DatabaseReader(postgres::Runtime& runtime,
                          std::chrono::milliseconds fresh_for = std::chrono::seconds(1));

  void start() { thread_.start(); }
  /// Idempotent.
  void stop();

  /// The latest state. If it is older than `fresh_for`, a read begins, and this waits at most
  /// `patience` for its end. Nothing: the server has never answered, or the last read failed. Any
  /// thread.
  std::optional<DatabaseState> get(std::chrono::milliseconds patience);

  /// How long the read that was asked for has taken; nothing: none is. Any thread.
  std::optional<std::chrono::milliseconds> unanswered(TimePoint now) const;

 private:
  std::chrono::milliseconds round(postgres::LazySession& session);

  const std::chrono::milliseconds fresh_for_;
  mutable std::mutex mutex_;
  std::condition_variable_any answered_;
  std::optional<DatabaseState> state_;
  std::optional<TimePoint> read_at_;
  /// When the current read was asked for.
  std::optional<TimePoint> asked_at_;
  /// Reads that ended, also those that failed.
  std::uint64_t reads_ = 0;
  /// The last error that was logged; empty: the last read succeeded. The thread's.
  std::string logged_;
  postgres::SessionThread thread_;
};

/// How long an answer counts whose read took `duration`: 20 times as long as the read, but at least
/// a second and at most a minute. So reads take a twentieth of the time at most, unless one takes
/// longer than three seconds.
std::chrono::milliseconds lifetime_of_answer(std::chrono::milliseconds duration);

/// A page of JSON that is read from the database. A thread reads it for all requests that wait, and
/// for those that come during the lifetime of the answer; the header Age says how old it is. While
/// the database is down the answer is 503. Owned by one thread.
class DatabasePage {
 public:
  struct Options {
    /// For people: what a failure means.
    std::string failure;
    /// Called on the page's thread. Throws postgres::SqlError.
    std::function<nlohmann::json(postgres::LazySession&)> read;
  };

  DatabasePage(postgres::Runtime& runtime, Options options);

  void start() { thread_.start(); }
  /// Idempotent.
  void stop() { thread_.stop(); }

  /// Answers a request. Does not block. Any thread.
  void answer(std::shared_ptr<http_server::Exchange> exchange);

 private:
  using Exchanges = std::vector<std::shared_ptr<http_server::Exchange>>;

  std::chrono::milliseconds round(postgres::LazySession& session);
  http_server::Response response(postgres::LazySession& session);

  const Options options_;
  Guarded<Exchanges> waiting_;
  // The thread's.
  std::string latest_;
  std::chrono::steady_clock::time_point read_at_;
  std::chrono::steady_clock::time_point valid_until_;
  postgres::SessionThread thread_;
};

}  // namespace skua::pages
