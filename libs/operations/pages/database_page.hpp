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
#include "consumers/messages/message_inbox.hpp"
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
  /// How far the rows are behind the primary; nothing if the server is a primary.
  std::optional<std::chrono::milliseconds> standby_lag = std::nullopt;
  /// The newest migration of the database.
  int schema_version = 0;
  bool bootstrap_is_open = false;
  /// The number of unhandled dead letters, counted up to `kMostLetters`.
  std::int64_t dead_letters = 0;
  /// The consumers that do not advance until a person acts.
  std::vector<Consumer> stuck_consumers = {};
  /// The retired projections whose tables cannot be dropped.
  std::vector<Consumer> kept_tables = {};
  /// The inbox of own messages.
  consumers::InboxState inbox = {};
  /// The metrics of all consumers.
  std::vector<status::LabelledMetric> consumers = {};

  static constexpr std::int64_t kMostLetters = 1'000;
};

/// Reads the state with a few small queries. Throws postgres::SqlError.
DatabaseState read_database_state(postgres::Session& session);

/// Reads the state of the database on its own thread and session, when a caller asks for it. An
/// answer is reused for about a second, so that many calls cost one read. A failed read is repeated
/// until the server answers. Owned by one thread.
class DatabaseReader {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  /// `fresh_for` is the time for which an answer is reused.
  explicit DatabaseReader(postgres::Runtime& runtime,
                          std::chrono::milliseconds fresh_for = std::chrono::seconds(1));

  void start() { thread_.start(); }
  /// Idempotent.
  void stop();

  /// Returns the latest state. If it is older than `fresh_for`, a read begins, and the call waits
  /// for its end for at most `patience`. Returns nothing if the server has never answered, or the
  /// last read failed. Any thread.
  std::optional<DatabaseState> get(std::chrono::milliseconds patience);

  /// Returns how long the requested read has taken; nothing if no read is requested. Any thread.
  std::optional<std::chrono::milliseconds> unanswered(TimePoint now) const;

 private:
  std::chrono::milliseconds round(postgres::LazySession& session);

  const std::chrono::milliseconds fresh_for_;
  mutable std::mutex mutex_;
  std::condition_variable_any answered_;
  std::optional<DatabaseState> state_;
  std::optional<TimePoint> read_at_;
  /// The time at which the current read was requested.
  std::optional<TimePoint> asked_at_;
  /// The number of reads that ended, including failed reads.
  std::uint64_t reads_ = 0;
  /// The last error that was logged; empty if the last read succeeded. Used only by the thread.
  std::string logged_;
  postgres::SessionThread thread_;
};

/// Returns how long an answer is reused if its read took `duration`: 20 times as long as the read,
/// but at least a second and at most a minute. Reads therefore take at most a twentieth of the
/// time, unless one takes longer than three seconds.
std::chrono::milliseconds lifetime_of_answer(std::chrono::milliseconds duration);

/// A page of JSON that is read from the database. One read serves all requests that wait, and all
/// that come during the lifetime of the answer; the header Age states the age of the answer. While
/// the database is down the answer is 503. Owned by one thread.
class DatabasePage {
 public:
  struct Options {
    /// The meaning of a failure, as a text for people.
    std::string failure;
    /// Reads the content on the page's thread. Throws postgres::SqlError.
    std::function<nlohmann::json(postgres::LazySession&)> read;
  };

  DatabasePage(postgres::Runtime& runtime, Options options);

  void start() { thread_.start(); }
  /// Idempotent.
  void stop() { thread_.stop(); }

  /// Answers a request without blocking. Any thread.
  void answer(std::shared_ptr<http_server::Exchange> exchange);

 private:
  using Exchanges = std::vector<std::shared_ptr<http_server::Exchange>>;

  std::chrono::milliseconds round(postgres::LazySession& session);
  http_server::Response response(postgres::LazySession& session);

  const Options options_;
  Guarded<Exchanges> waiting_;
  // The following members are used only by the page's thread.
  std::string latest_;
  std::chrono::steady_clock::time_point read_at_;
  std::chrono::steady_clock::time_point valid_until_;
  postgres::SessionThread thread_;
};

}  // namespace skua::pages
